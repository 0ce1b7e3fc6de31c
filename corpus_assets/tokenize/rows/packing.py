"""Packing of sequences into rows of a fixed length (docs/formats/packing.md).

nearest_previous: the algorithm of Cerebras' Model Zoo (docs/formats/packing.md "Nearest previous fit").
Every sequence is a bin; bins are
visited from the last to the first, and a bin is appended to the nearest earlier one that has room for all of it.
best_fit: best fit decreasing; from long to short, each sequence goes to the open bin with the least sufficient room.
lpfhp, spfhp: longest and shortest pack first on the histogram of lengths (Krell et al., Efficient sequence packing
without cross-contamination, arXiv 2107.02027): the pack with the least, or the most, sufficient room. Their cost
grows with the number of different lengths, not with that of sequences.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from resources.errors import ConfigError

Method = Literal["nearest_previous", "best_fit", "lpfhp", "spfhp"]
METHODS: tuple[Method, ...] = get_args(Method)
Lengths = NDArray[np.int64]


@dataclass(frozen=True)
class Packing:
    """Bins of sequences: `members` int64 (n,), numbers of sequences, and int64 `bounds` (bins + 1,).

    Bin b holds `members[bounds[b]:bounds[b + 1]]`, with `loads[b]` positions in use out of `capacity`.
    """

    members: NDArray[np.int64]
    bounds: NDArray[np.int64]
    loads: NDArray[np.int64]
    capacity: int

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> NDArray[np.int64]:
        return self.members[self.bounds[index] : self.bounds[index + 1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Sequences of each bin."""
        return np.diff(self.bounds)

    @property
    def efficiency(self) -> float:
        """Share of the positions of all bins that is in use; 0 without bins."""
        return float(self.loads.sum() / (len(self) * self.capacity)) if len(self) else 0.0


def check_method(method: str, depth: int | None) -> None:
    """Raises ConfigError for a method or a depth that cannot be used."""
    if method not in METHODS:
        raise ConfigError(f"packing method is {method!r}; valid: {', '.join(METHODS)}")
    if depth is not None and (depth < 1 or method == "nearest_previous"):
        valid = "none with nearest_previous" if method == "nearest_previous" else "1 or more, or none"
        raise ConfigError(f"packing depth is {depth}; valid: {valid}")


def pack(lengths: Lengths, capacity: int, method: Method, *, depth: int | None = None) -> Packing:
    """Returns bins of at most `capacity` positions and `depth` sequences, for sequences of 1 to `capacity` positions.

    Bins are in the order of their smallest member, members of a bin in input order; nearest_previous keeps the
    original's order, which is that of bins by their first member. ValueError for a length out of range.
    """
    check_method(method, depth)
    lengths = np.ascontiguousarray(lengths, np.int64)
    if not lengths.size:
        return Packing(lengths, np.zeros(1, np.int64), lengths, capacity)
    if lengths.min() < 1 or lengths.max() > capacity:
        raise ValueError(f"sequences of {lengths.min()} to {lengths.max()} positions; valid: 1 to {capacity}")
    from corpus_assets.tokenize.kernels import packing as kernels

    if method == "nearest_previous":
        members, bounds = kernels.nearest_previous(lengths, capacity)
    else:
        limit = capacity if depth is None else depth
        if method == "best_fit":
            bins, count = kernels.best_fit(lengths, kernels.longest_first(lengths, capacity), capacity, limit)
        else:
            packs = histogram_packs(np.bincount(lengths), capacity, limit, method)
            bins, count = _assign(lengths, kernels.longest_first(lengths, capacity), packs)
        members, bounds = kernels.in_input_order(bins, count)
    return Packing(members, bounds, np.add.reduceat(lengths[members], bounds[:-1]), capacity)


def histogram_packs(
    histogram: NDArray[np.int64], capacity: int, depth: int, method: Literal["lpfhp", "spfhp"]
) -> list[tuple[list[int], int]]:
    """Packs as (lengths of the members, how many such packs); `histogram[n]` sequences have n positions."""
    shelf = _Shelf(capacity, depth)
    for length in np.flatnonzero(histogram)[::-1].tolist():
        left = int(histogram[length])
        while left:
            room = shelf.least(length) if method == "lpfhp" else shelf.most(length)
            pack_, available = shelf.take(room) if room else ([], left)
            # Longest pack first lets several equal sequences into a pack at once.
            repeat = 1 if method == "spfhp" else min((room or capacity) // length, depth - len(pack_), left)
            count = min(available, left // repeat)
            if room and available > count:
                shelf.put(pack_, available - count)
            shelf.put(pack_ + [length] * repeat, count)
            left -= count * repeat
    return shelf.packs()


class _Shelf:
    """Packs that are complete, and open ones in stacks by room."""

    def __init__(self, capacity: int, depth: int) -> None:
        self._capacity = capacity
        self._depth = depth
        self._complete: list[tuple[list[int], int]] = []
        self._open: dict[int, list[tuple[list[int], int]]] = defaultdict(list)
        self._rooms: list[int] = []  # sorted: those for which there is an open pack

    def least(self, length: int) -> int | None:
        """Returns the smallest room of `length` or more."""
        index = bisect_left(self._rooms, length)
        return self._rooms[index] if index < len(self._rooms) else None

    def most(self, length: int) -> int | None:
        """Returns the largest room, if it is `length` or more."""
        return self._rooms[-1] if self._rooms and self._rooms[-1] >= length else None

    def take(self, room: int) -> tuple[list[int], int]:
        """Returns the open packs with that room that were put last."""
        found = self._open[room].pop()
        if not self._open[room]:
            self._rooms.remove(room)
        return found

    def put(self, pack_: list[int], count: int) -> None:
        """Add `count` equal packs."""
        room = self._capacity - sum(pack_)
        if room == 0 or len(pack_) == self._depth:
            self._complete.append((pack_, count))
            return
        if not self._open[room]:
            insort(self._rooms, room)
        self._open[room].append((pack_, count))

    def packs(self) -> list[tuple[list[int], int]]:
        """Returns all packs."""
        return self._complete + [found for room in self._rooms for found in self._open[room]]


def _assign(
    lengths: Lengths, order: NDArray[np.int64], packs: list[tuple[list[int], int]]
) -> tuple[NDArray[np.int64], int]:
    """Returns the bin of every sequence, and the number of bins: sequences of a length fill its slots as they come."""
    taken = (lengths.size - np.cumsum(np.bincount(lengths))).tolist()  # where the next one of a length is in `order`
    bins = np.empty(lengths.size, np.int64)
    opened = 0
    for members, count in packs:
        for length in members:
            bins[order[taken[length] : taken[length] + count]] = np.arange(opened, opened + count)
            taken[length] += count
        opened += count
    return bins, opened
