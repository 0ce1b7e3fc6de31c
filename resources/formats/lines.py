"""JSON lines in gzip (`.jsonl.gz`)."""

from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import xxhash
from isal import isal_zlib
from typing_extensions import override

from resources.formats.codecs import open_gzip
from resources.formats.documents import Document, encode_document
from resources.formats.file_format import FileFormat, Open, blocks_of, stream_digest
from resources.formats.writers import Writer, Written

_BLOCK = 1 << 20
GZIP_LEVEL = 1


class LineWriter(Writer):
    """Writes lines as gzip (isal level 1; a header without name or time, so that equal content gives equal bytes)."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._gzip = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, 31)
        self._hash = xxhash.xxh3_128()
        self._lines: list[bytes] = []
        self._held = 0
        self._rows = 0
        self._bytes = 0

    def write(self, line: bytes) -> None:
        """Adds one line, newline included."""
        self._lines.append(line)
        self._held += len(line)
        self._rows += 1
        if self._held >= _BLOCK:
            self._flush()

    def _flush(self) -> None:
        block = b"".join(self._lines)
        self._hash.update(block)
        self._file.write(self._gzip.compress(block))
        self._bytes += self._held
        self._lines.clear()
        self._held = 0

    @override
    def _complete(self) -> Written:
        self._flush()
        self._file.write(self._gzip.flush())
        return Written(self._hash.hexdigest(), self._rows, self._bytes)


class DocumentWriter(LineWriter):
    """Writes documents to `jsonl.gz`, one per row."""

    def add(self, document: Document) -> None:
        """Adds one document."""
        self.write(encode_document(document))


def _digest(open_file: Open, path: str) -> str:
    with open_file(path) as raw, open_gzip(raw) as content:
        return stream_digest(blocks_of(content))


def _preview(open_file: Open, path: str, rows: int) -> Iterator[str]:
    with open_file(path) as raw, open_gzip(raw) as lines:
        yield from (line.decode().rstrip("\n") for line in islice(lines, rows))


LINES = FileFormat(".jsonl.gz", _digest, _preview)
