"""The asset `<name>_token_stream`: ids of whole documents, uncut, and where each document comes from.

A partition is a ragged array (docs/formats/ragged.md): `.data.npy`, the ids of all documents one after another without
a separator, and `.len.npy`, how many each has. Beside it lies a row for every document (`DOCUMENT`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, islice, pairwise, repeat
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.options import Cleaning
from corpus_assets.export.encoding import Encoded, encoded
from corpus_assets.tokenize.counts.discarded import of_text
from corpus_assets.tokenize.encode.attempts import with_fastest
from corpus_assets.tokenize.encode.backends import FIRST_CHARACTERS
from corpus_assets.tokenize.tokenizer import load_tokenizer_of
from corpus_assets.tokenize.tokenizers.protocol import Tokenizer
from resources.documents.row_counts import added, by_power
from resources.formats.token_streams import DATA, DOCUMENT, DOCUMENTS, IDS, LENGTHS, NAMES, NOWHERE
from resources.stage.partition import Partition
from resources.stage.task import Task

__all__ = [
    "BY_SOURCE",
    "DATA",
    "DOCUMENT",
    "DOCUMENTS",
    "IDS",
    "LENGTHS",
    "NAMES",
    "NOWHERE",
    "StreamDocument",
    "Written",
    "id_type",
    "stream_documents",
    "sums_by_source",
    "token_stream",
]

FIRST_TEXTS = 64
_IDS_AT_ONCE = 1 << 20
BY_SOURCE = "by_source"
"""Counters of a partition: documents, bytes of text and ids of each source."""


class _Line(msgspec.Struct):
    """The part of a stored document or example that is tokenized, and its identity."""

    id: str
    source: str
    text: str


_LINE = msgspec.json.Decoder(_Line)


class StreamDocument(NamedTuple):
    """A document for a stream. size: UTF-8 bytes of its text; row and copy as in `DOCUMENT`."""

    id: str
    source: str
    text: str
    size: int
    row: int
    copy: int


def token_stream(
    task: Task, path: str, source: str, tokenizer: str, cleaning: Cleaning, *, inner_spaces: bool = True
) -> None:
    """Writes the ids of the documents of one partition.

    path: of its files, without the suffix. source, tokenizer: assets that are read. inner_spaces: whether T5 puts
    a space after control tokens in texts where its own settings say so.
    """
    given = task.input(source)
    loaded = load_tokenizer_of(task.input(tokenizer))
    loaded = loaded if inner_spaces else loaded.without_inner_spaces()

    def attempt(fast: Tokenizer) -> "Written":
        return _write(task, path, encoded(stream_documents(given), fast, cleaning), loaded.vocab_size)

    first = [_LINE.decode(line).text[:FIRST_CHARACTERS] for line in islice(given.lines(), FIRST_TEXTS)]
    written, report = with_fastest(task, loaded, first, attempt)
    task.save_counters(BY_SOURCE, written.by_source())
    task.count(rows_in=written.rows + sum(task.dropped().values()), rows_out=written.rows, tokens=written.ids)
    task.count(token_lengths=written.token_lengths)
    task.count(empty_documents=written.empty, text_bytes=written.text_bytes.total(), **report)


def stream_documents(given: Partition) -> Iterator[StreamDocument]:
    """Yields the documents of a partition of a split, or the examples of a file of a dataset's own, in order."""
    tables = [file.path for file in given.record.files if file.path.endswith(".rows.npy")]
    known: Iterable[tuple[int, int | None]] = repeat((0, None))
    if tables:
        known = given.array(tables[0])[["copy", "bytes"]].tolist()
    rows = repeat(NOWHERE) if tables else count()
    for document, (copy, size), row in zip(map(_LINE.decode, given.lines()), known, rows, strict=False):
        measured = len(document.text.encode()) if size is None else size
        yield StreamDocument(document.id, document.source, document.text, measured, row, copy)


class _Numbers(dict[str, int]):
    """Numbers of names, in order of first occurrence."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


class Written:
    """What is counted while a stream is written."""

    def __init__(self) -> None:
        self.rows = self.ids = self.empty = self.id_bytes = 0
        self.sources = _Numbers()
        self.token_lengths: list[int] = []
        self.documents, self.text_bytes, self.tokens = Counter[str](), Counter[str](), Counter[str]()
        self._last: StreamDocument | None = None

    def table(self, batch: Encoded) -> tuple[NDArray[np.void], bytes]:
        """Returns the rows of a batch of documents, and their ids as UTF-8."""
        documents = batch.documents
        names = [document.id.encode("utf-8", "surrogatepass") for document in documents]
        rows = np.zeros(len(documents), DOCUMENT)
        rows["id_end"] = self.id_bytes + np.cumsum([*map(len, names)], dtype=np.int64)
        rows["source"] = [self.sources[document.source] for document in documents]
        rows["row"] = [document.row for document in documents]
        rows["copy"] = [document.copy for document in documents]
        rows["end"] = np.where(self._again(documents), 0, [document.size for document in documents])
        self._count(rows["source"], rows["end"], batch.ids.lengths)
        self.id_bytes += sum(map(len, names))
        return rows, b"".join(names)

    def _again(self, documents: Sequence[StreamDocument]) -> list[bool]:
        """Returns for each document whether it is the one before it, of whose text several are made: it counts once."""
        again = [document is before for before, document in pairwise([self._last, *documents])]
        self._last = documents[-1] if documents else self._last
        return again

    def _count(self, sources: NDArray[np.uint32], sizes: NDArray[np.uint64], lengths: NDArray[np.int64]) -> None:
        self.rows += len(lengths)
        self.ids += int(lengths.sum())
        self.token_lengths = added([self.token_lengths, by_power(lengths)])
        self.empty += int((lengths == 0).sum())
        names = [*self.sources]
        for number in np.unique(sources).tolist():
            name, of = names[number], sources == number
            self.documents[name] += int(of.sum())
            self.text_bytes[name] += int(sizes[of].sum())
            self.tokens[name] += int(lengths[of].sum())

    def by_source(self) -> dict[str, Any]:
        """Returns documents, bytes of text and ids of each source."""
        return {
            source: {
                "documents": self.documents[source],
                "text_bytes": self.text_bytes[source],
                "tokens": self.tokens[source],
            }
            for source in sorted(self.documents)
        }


def id_type(vocabulary: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Returns the smallest unsigned type that holds the ids of a vocabulary of that size."""
    return np.min_scalar_type(max(vocabulary - 1, 0))


def _write(task: Task, path: str, batches: Iterable[Encoded], vocabulary: int) -> Written:
    written, dtype = Written(), id_type(vocabulary)
    with (
        task.array(f"{path}{IDS}", np.uint8) as names,
        task.array(f"{path}{DOCUMENTS}", DOCUMENT) as documents,
        task.array(f"{path}{LENGTHS}", np.int32) as lengths,
        task.array(f"{path}{DATA}", dtype) as data,
    ):
        for batch in batches:
            for document in batch.without_cut:
                name = f"{document.source}/{document.id}"
                task.drop("no_place_to_cut", example=name, shown=of_text(name, document.text))
            rows, encoded_ids = written.table(batch)
            documents.append(rows)
            names.append(np.frombuffer(encoded_ids, np.uint8))
            lengths.append(batch.ids.lengths.astype(np.int32))
            ids = batch.ids.ids
            for start in range(0, len(ids), _IDS_AT_ONCE):
                data.append(ids[start : start + _IDS_AT_ONCE].astype(dtype))
            del batch, ids  # A long document's ids are free before the next document is encoded.
    task.save_json(f"{path}{NAMES}", {"sources": [*written.sources]}, rows=1)
    return written


def sums_by_source(partitions: Iterable[Partition]) -> Mapping[str, Counter[str]]:
    """Returns documents, bytes of text and ids of each source in all partitions."""
    total: dict[str, Counter[str]] = {}
    for partition in partitions:
        for source, numbers in partition.counters(BY_SOURCE).items():
            total.setdefault(source, Counter()).update(numbers)
    return dict(sorted(total.items()))
