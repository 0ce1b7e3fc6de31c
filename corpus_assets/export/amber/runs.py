"""Runs: consecutive documents over partitions of streams, and the windows that are cut from them.

A position in a run counts its ids from the beginning, with separators. A run is read piece by piece; a piece is its
part in one partition of a stream.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.export.documents import Documents, Parts
from corpus_assets.export.token_stream import DOCUMENTS, NAMES

BLOCK_IDS = 1 << 20
Ids = NDArray[np.int64]
ORIGIN = np.dtype([("window", "<u8"), ("position", "<u4"), ("stream", "<u4"), ("id", "<u8")])
"""Where ids of a window come from, up to the next origin: which window; the first of its ids; the number of the
partition; where that id is in the ids of all documents that are written of the partition, separators included."""


@dataclass(frozen=True)
class Piece:
    """The documents of a run that lie in one partition of a stream. Memory is that of their lengths; ids are mapped.

    documents: all that are written of the partition. starts: int64 (documents of the run,), where the ids of each begin
    in its data. ends: where each ends among those of the run, separators included. places: where each begins in the ids
    of all documents, separators included.
    """

    documents: Documents
    starts: Ids
    ends: Ids
    places: Ids

    @classmethod
    def of(cls, documents: Documents, source: str | None) -> "Piece":
        """Returns the documents of one source in a partition, or of all."""
        sizes = documents.sizes
        places = np.cumsum(sizes) - sizes
        sources = documents.stream.json(NAMES)["sources"]
        if source is None or sources == [source]:
            return cls(documents, documents.starts, np.cumsum(sizes), places)
        number = sources.index(source) if source in sources else len(sources)
        chosen = np.flatnonzero(documents.stream.array(DOCUMENTS)["source"][documents.numbers] == number)
        return cls(documents, documents.starts[chosen], np.cumsum(sizes[chosen]), places[chosen])

    @property
    def sizes(self) -> Ids:
        """Returns how many ids each document has with its separators (documents,)."""
        return np.diff(self.ends, prepend=0)

    def origins(self, windows: Ids, starts: Ids, size: int, stream: int) -> NDArray[np.void]:
        """Returns where windows of `size` ids come from, as far as they lie in the piece, which is not empty.

        windows: their numbers. starts: where each begins in the piece, below 0 if it begins before. stream: number of
        the partition.
        """
        begins = np.maximum(starts, 0)
        first = np.searchsorted(self.ends, begins, side="right")
        last = np.searchsorted(self.ends, np.minimum(starts + size, self.ends[-1]))
        counts = last + 1 - first
        each = np.repeat(np.arange(len(starts)), counts)
        document = np.arange(len(each)) - np.repeat(np.cumsum(counts) - counts, counts) + first[each]
        whole = np.concatenate([[0], self.ends])[document]
        begin = np.maximum(begins[each], whole)
        held = begin < self.ends[document]  # An empty document without separators is no origin.
        found = np.empty(len(each), ORIGIN)
        found["window"], found["stream"] = windows[each], stream
        found["position"], found["id"] = begin - starts[each], self.places[document] + begin - whole
        kept: NDArray[np.void] = found[held]
        return kept


@dataclass(frozen=True)
class Cut:
    """How windows are cut from documents.

    window: ids of a window. around: number of ids around each document. wrap: windows continue over documents; else
    each begins a document, and the rest of its last document is in no window.
    """

    window: int
    around: int
    wrap: bool = True


@dataclass(frozen=True)
class Run:
    """Documents from which windows are cut as from one stream.

    parts: the documents of all partitions. numbers: those of the partitions that it goes through. source: only the
    documents of this source; None: all.
    """

    parts: Parts
    numbers: Sequence[int]
    source: str | None
    cut: Cut

    def _piece(self, number: int) -> Piece:
        return Piece.of(self.parts[number], self.source)

    @cached_property
    def _sizes(self) -> list[int]:
        """Returns the number of ids of each piece, separators included."""
        return [count["tokens"] + count["documents"] * self.cut.around for count in map(self._counted, self.numbers)]

    def _counted(self, number: int) -> Counter[str]:
        found = self.parts.by_source[number]
        total = Counter[str]()
        for source in found if self.source is None else {self.source} & found.keys():
            total.update(found[source])
        return total

    @property
    def ids(self) -> int:
        """Returns the number of ids, separators included."""
        return sum(self._sizes)

    @cached_property
    def counted(self) -> tuple[int, int]:
        """Returns the number of windows, and of ids after the last one, which would have begun another."""
        if self.cut.wrap:
            return divmod(self.ids, self.cut.window)
        found = [(len(starts), tail) for starts, tail in self._starts_by_piece()]
        return sum(windows for windows, _ in found), found[-1][1] if found else 0

    @property
    def windows(self) -> int:
        """Returns the number of windows."""
        return self.counted[0]

    def _starts_by_piece(self) -> Iterator[tuple[Ids, int]]:
        """Yields where windows without wrap begin that are full with each piece, and the ids that are left over."""
        from corpus_assets.export.kernels.windows import starts_without_wrap

        state = np.zeros(3, np.int64)
        for number, size in zip(self.numbers, self._sizes, strict=True):
            if size:
                sizes = self._piece(number).sizes
                starts = np.empty(len(sizes), np.int64)
                yield starts[: starts_without_wrap(sizes, self.cut.window, state, starts)], int(state[1])

    def starts(self, windows: Ids) -> Ids:
        """Returns where windows begin, given their numbers in ascending order."""
        if self.cut.wrap:
            return windows * self.cut.window
        found, first = [np.empty(0, np.int64)], 0
        for starts, _ in self._starts_by_piece():
            low, high = np.searchsorted(windows, [first, first + len(starts)])
            found.append(starts[windows[low:high] - first])
            first += len(starts)
        return np.concatenate(found)

    def gather(self, windows: Ids, dtype: np.dtype[Any], origins: list[NDArray[np.void]]) -> Iterator[NDArray[Any]]:
        """Yields the ids of windows in blocks (windows, ids), given the numbers of all in ascending order.

        origins: is added to; the windows are counted from 0 there.
        """
        starts, base, rest = self.starts(windows), 0, np.empty(self.cut.window, dtype)
        for number, size in zip(self.numbers, self._sizes, strict=True):
            first = int(np.searchsorted(starts, base - self.cut.window, side="right"))
            last = int(np.searchsorted(starts, base + size))
            if first < last and size:
                piece, chosen = self._piece(number), starts[first:last] - base
                origins.append(piece.origins(np.arange(first, last), chosen, self.cut.window, number))
                yield from self._gathered(piece, chosen, rest)
            base += size

    def _gathered(self, piece: Piece, starts: Ids, rest: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Yields the windows that end in a piece. rest: the one that goes on from or to another piece."""
        from corpus_assets.export.kernels.windows import gather

        documents = piece.documents
        arrays, around = (documents.data, piece.starts, piece.ends), (documents.before, documents.after)
        for low in range(0, len(starts), step := max(1, BLOCK_IDS // self.cut.window)):
            chosen = starts[low : low + step]
            block = np.empty((len(chosen), self.cut.window), rest.dtype)
            block[0] = rest
            gather(arrays, around, chosen, block)
            if chosen[-1] + self.cut.window > piece.ends[-1]:
                rest[:] = block[-1]
                block = block[:-1]
            if len(block):
                yield block
