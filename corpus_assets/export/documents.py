"""The documents of a stream's partition for the formats: consecutive ids with separators."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.export.token_stream import BY_SOURCE, DATA, DOCUMENTS, LENGTHS, NAMES
from resources.formats.token_streams import ORIGINS
from resources.stage.partition import Partition

BEFORE, AFTER = 1, 2
"""Separators that a piece of a document has."""

BLOCK_IDS = 1 << 17
"""Ids of a block: half a megabyte as int32. Larger ones leave the processor's cache, and take three times as long."""


@dataclass(frozen=True)
class Documents:
    """The documents of one partition. Memory is that of their lengths; ids are mapped.

    stream: the partition of the token stream, whose table says where each document comes from.
    data: (ids,), unsigned: the ids of all.
    starts, lengths: int64 (documents,), where in `data` each begins, and how many ids it has.
    numbers: int64 (documents,), which document of the stream each is.
    before, after: int64 (any,), the ids around each.
    bounds: int64 (units + 1,), with which of them each unit begins, and where the last one ends; None: each is one.
    sides: uint8 (documents,), which of the ids around it each has (`BEFORE`, `AFTER`); None: all have both.
    """

    stream: Partition
    data: NDArray[Any]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    numbers: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    bounds: NDArray[np.int64] | None = None
    sides: NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, stream: Partition, before: int | None, after: int | None, *, empty: bool) -> "Documents":
        """Returns the documents of a partition of a stream. empty: those without an id too."""
        lengths = stream.array(LENGTHS).astype(np.int64)
        numbers = np.arange(len(lengths)) if empty else np.flatnonzero(lengths)
        starts = np.cumsum(lengths) - lengths
        first, last = (np.array([] if id_ is None else [id_], np.int64) for id_ in (before, after))
        return cls(stream, stream.array(DATA), starts[numbers], lengths[numbers], numbers, first, last)

    def between(self, before: Sequence[int], after: Sequence[int]) -> "Documents":
        """Returns the documents with other ids around each."""
        return replace(self, before=np.array(before, np.int64), after=np.array(after, np.int64))

    def without_own_separators(self) -> "Documents":
        """Returns the documents, which have ids, without their own separators, so that each has one of a kind.

        A document of one id that is the one before it and the one after it is that id alone.
        """
        starts, ends, sides = self.starts, self.starts + self.lengths, self.sides
        if self.before.size:
            starts = starts + (self.data[starts] == self.before[0])
        if self.after.size:
            ends = ends - ((self.data[ends - 1] == self.after[-1]) & (ends > starts))
        if self.before.size and self.after.size and self.before[0] == self.after[-1]:
            alone = (self.lengths == 1) & (starts > self.starts)
            sides = np.where(alone, BEFORE, BEFORE | AFTER).astype(np.uint8)
        return replace(self, starts=starts, lengths=ends - starts, sides=sides)

    @property
    def key(self) -> str:
        """Returns the key of the stream's partition."""
        return self.stream.key or ""

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Returns how many ids each document has with its separators (documents,)."""
        return self.lengths + self.heads + self._tails

    @cached_property
    def heads(self) -> NDArray[np.int64]:
        """Returns how many ids stand before each document (documents,)."""
        return self._around(BEFORE, self.before.size)

    @cached_property
    def _tails(self) -> NDArray[np.int64]:
        return self._around(AFTER, self.after.size)

    def _around(self, side: int, ids: int) -> NDArray[np.int64]:
        if self.sides is None:
            return np.full(len(self), ids, np.int64)
        return np.where(self.sides & side, ids, 0).astype(np.int64)

    def with_separators(self, number: int) -> NDArray[np.int64]:
        """Returns the ids of one of the documents, those around it included."""
        start, end = int(self.starts[number]), int(self.starts[number] + self.lengths[number])
        before, after = self.before[: self.heads[number]], self.after[: self._tails[number]]
        return np.concatenate([before, self.data[start:end].astype(np.int64), after])

    @property
    def ids(self) -> int:
        """Returns how many ids there are in all, separators included."""
        return int(self.sizes.sum())

    @property
    def texts(self) -> int:
        """Returns how many of them are texts, of which a stream of parts may hold several pieces."""
        return int(self._begins.sum())

    @cached_property
    def _begins(self) -> NDArray[np.bool_]:
        """Returns whether each is the first piece of its text (documents,)."""
        if not self.stream.has(ORIGINS):
            return np.ones(len(self), np.bool_)
        begins: NDArray[np.bool_] = self.stream.array(ORIGINS)["begin"][self.numbers] == 0
        return begins

    @property
    def separators(self) -> int:
        """Returns how many of them are separators."""
        return self.ids - int(self.lengths.sum())

    def by_source(self) -> dict[str, dict[str, int]]:
        """Returns texts, their bytes and ids, without separators, of each source."""
        table, names = self.stream.array(DOCUMENTS), self.stream.json(NAMES)["sources"]
        numbers, size = table["source"][self.numbers], len(names)
        text_bytes = (table["end"] - table["start"])[self.numbers]
        counts = {
            "documents": np.bincount(numbers[self._begins], minlength=size),
            "text_bytes": _sums(numbers, text_bytes, size),
            "tokens": _sums(numbers, self.lengths, size),
        }
        return {name: {key: int(values[n]) for key, values in counts.items()} for n, name in enumerate(names)}

    def picked(self, places: NDArray[np.int64] | slice) -> "Documents":
        """Returns some of the documents, in the order of `places`, which may name one several times."""
        starts, lengths, numbers = self.starts[places], self.lengths[places], self.numbers[places]
        sides = None if self.sides is None else self.sides[places]
        return replace(self, starts=starts, lengths=lengths, numbers=numbers, bounds=None, sides=sides)

    @property
    def unit_bounds(self) -> NDArray[np.int64]:
        """Returns with which of the documents each unit begins, and how many documents there are (units + 1,)."""
        return np.arange(len(self) + 1) if self.bounds is None else self.bounds

    def unit_at(self, document: int, id_: int) -> int | None:
        """Returns which unit begins with that document of the stream, at that place in all ids; None if none does."""
        begins = np.cumsum(self.sizes) - self.sizes
        found = np.flatnonzero((self.numbers == document) & (begins == id_))
        return int(np.searchsorted(self.unit_bounds, found[0])) if len(found) else None

    def blocks(self, dtype: DTypeLike, size: int = BLOCK_IDS) -> Iterator[NDArray[Any]]:
        """Yields all ids with their separators as arrays of `size` ids, the last one shorter. They are new arrays."""
        reader = IdReader(self, dtype)
        for start in range(0, self.ids, size):
            yield reader.read(min(size, self.ids - start))

    def parts(self, documents: NDArray[np.int64], begins: NDArray[np.int64], ends: NDArray[np.int64]) -> "Documents":
        """Returns parts of documents, each of which has both of its separators, one id at most on a side.

        documents: int64 (parts,), which of these each is of. begins, ends: int64 (parts,), the ids of it that the part
        holds, separators counted.
        """
        if self.sides is not None or max(self.before.size, self.after.size) > 1:
            raise ValueError("parts are made of whole documents with one separator on a side")
        head, lengths = self.before.size, self.lengths[documents]
        first, last = np.clip(begins - head, 0, lengths), np.clip(ends - head, 0, lengths)
        sides = (begins < head) * BEFORE | (ends > head + lengths) * AFTER
        found = self.picked(documents)
        return replace(found, starts=found.starts + first, lengths=last - first, sides=sides.astype(np.uint8))

    def cut(self, most: int, before: int | None = None) -> "Documents":
        """Returns the documents, which have no separators, in pieces of at most `most` ids, the last one shorter.

        before: an id that is put before every piece, and counted. A document without an id stays one piece.
        """
        room = most - (before is not None)
        counts = np.maximum(1, -(-self.lengths // room))
        lengths = np.full(counts.sum(), room, np.int64)
        lengths[np.cumsum(counts) - 1] = self.lengths - (counts - 1) * room
        firsts = np.repeat(np.cumsum(counts) - counts, counts)
        starts = np.repeat(self.starts, counts) + (np.arange(len(lengths)) - firsts) * room
        around = np.array([] if before is None else [before], np.int64)
        return replace(self, starts=starts, lengths=lengths, numbers=np.repeat(self.numbers, counts), before=around)

    def groups(self, most: int) -> Iterator["Documents"]:
        """Yields the documents in ranges of at most `most` ids each, or of one document."""
        for first, end in runs(self.sizes, most):
            yield self.picked(slice(first, end))


_BOTH = np.empty(0, np.uint8)


class IdReader:
    """Reads the ids of documents with their separators, one after another from the first on."""

    def __init__(self, documents: Documents, dtype: DTypeLike) -> None:
        self._documents = documents
        self._dtype = dtype
        self._place = np.zeros(2, np.int64)

    def read(self, count: int) -> NDArray[Any]:
        """Returns the next `count` ids, which there must be, as a new array."""
        from corpus_assets.export.kernels.separate import separate

        given, out = self._documents, np.empty(count, self._dtype)
        # One kernel for signed and unsigned ids: their bits are equal.
        written = out.view(f"u{out.dtype.itemsize}")
        sides = _BOTH if given.sides is None else given.sides
        documents = (given.starts, given.lengths, sides)
        separate(given.data, documents, (given.before, given.after), written, self._place)
        return out


def runs(sizes: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Yields ranges of consecutive items whose sizes are at most `most` together, or of one item."""
    ends, first = np.cumsum(sizes), 0
    while first < len(sizes):
        start = int(ends[first - 1]) if first else 0
        end = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        yield first, end
        first = end


def _sums(numbers: NDArray[Any], values: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Returns the sum of the values of each number, (size,)."""
    total = np.zeros(size, np.int64)
    np.add.at(total, numbers, values.astype(np.int64))
    return total


@dataclass(frozen=True)
class Parts:
    """The documents of some partitions of a stream, one partition after another; can be read repeatedly.

    of: returns the documents of a partition. Memory is that of one of them. as_counted: True if these are all documents
    of the streams, empty ones too.
    """

    streams: Sequence[Partition]
    of: Callable[[Partition], Documents]
    as_counted: bool = False

    def __len__(self) -> int:
        return len(self.streams)

    def __iter__(self) -> Iterator[Documents]:
        return iter([self._only]) if len(self) == 1 else map(self.of, self.streams)

    def __getitem__(self, number: int) -> Documents:
        return self.of(self.streams[number])

    @cached_property
    def by_source(self) -> list[Mapping[str, Mapping[str, int]]]:
        """Returns documents, bytes of text and ids of each source, for each partition."""
        if self.as_counted:
            return [stream.counters(BY_SOURCE) for stream in self.streams]
        return [self.of(stream).by_source() for stream in self.streams]

    @cached_property
    def _only(self) -> Documents:
        return self.of(self.streams[0])


def plain_ids(file: BinaryIO, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Yields the rest of a file as blocks of ids; ValueError if it ends within one."""
    while raw := file.read(BLOCK_IDS * dtype.itemsize):
        yield np.frombuffer(raw, dtype)
