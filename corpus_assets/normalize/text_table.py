"""The tables beside documents: size, digest, date and lengths of each text, and the concatenated ids."""

from typing import NamedTuple

import numpy as np
import xxhash

from corpus_assets.normalize.lengths import cleaned_length
from resources.documents.row_counts import added, by_power
from resources.formats.arrays import ArrayWriter
from resources.formats.created import created_microseconds
from resources.formats.documents import Document, encoded_digest
from resources.formats.row_tables import LENGTHS, NAMES, TEXT, TEXTS
from resources.hashing import content_digest

_BLOCK = 4096


class TextRow(NamedTuple):
    """The row of one document in the tables.

    size: UTF-8 bytes of the text.
    digest: their SHA-256.
    created: as `created_microseconds` gives it.
    identifier: the id as UTF-8.
    lengths: code points of the text, and of its cleaned form.
    """

    size: int
    digest: bytes
    created: int
    identifier: bytes
    lengths: tuple[int, int]


def row_of(document: Document) -> TextRow:
    """Returns the row of a document in the tables."""
    encoded = document.text.encode()
    identifier = document.id.encode("utf-8", "surrogatepass")
    lengths = (len(document.text), cleaned_length(encoded))
    return TextRow(len(encoded), encoded_digest(encoded), created_microseconds(document.created), identifier, lengths)


class TextTable:
    """Writes the tables block by block; `flush` after the last row.

    text_bytes, lengths: UTF-8 bytes of all texts, and how many texts have how many (`by_power`).
    """

    def __init__(self, texts: ArrayWriter, ids: ArrayWriter, lengths: ArrayWriter) -> None:
        self._texts = texts
        self._ids = ids
        self._lengths = lengths
        self._rows: list[TextRow] = []
        self._id_end = 0
        self._digests = xxhash.xxh3_128()
        self.text_bytes = 0
        self.lengths: list[int] = []

    def add(self, row: TextRow) -> None:
        """Adds the row of one document."""
        self.text_bytes += row.size
        self._digests.update(row.digest)
        self._rows.append(row)
        if len(self._rows) == _BLOCK:
            self.flush()

    def flush(self) -> None:
        """Writes the rows that are held."""
        sizes, digests, created, identifiers, lengths = zip(*self._rows, strict=True) if self._rows else ((),) * 5
        block = np.empty(len(self._rows), dtype=TEXT)
        block["bytes"] = sizes
        block["digest"] = np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 32)
        block["created"] = created
        ends = np.fromiter(map(len, identifiers), dtype=np.uint64, count=len(self._rows))
        block["id_end"] = self._id_end + np.cumsum(ends, dtype=np.uint64)
        self._id_end += int(ends.sum())
        self.lengths = added([self.lengths, by_power(block["bytes"])])
        self._texts.append(block)
        self._ids.append(np.frombuffer(b"".join(identifiers), dtype=np.uint8))
        self._lengths.append(np.array(list(lengths), dtype=LENGTHS))
        self._rows.clear()

    def segments(self) -> dict[str, str]:
        """Returns the digests of the segments that later stages read alone, once the tables are finished."""
        names = content_digest(self._texts.written.digest.encode(), self._ids.written.digest.encode())
        return {TEXTS: self._digests.hexdigest(), NAMES: names}
