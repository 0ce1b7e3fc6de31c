"""Bins of given sequences, which share rows of a fixed length (docs/formats/packing.md).

nearest_previous: the algorithm of Cerebras' Model Zoo (docs/formats/packing.md "Nearest previous fit"). Every sequence
begins as a bin; bins are visited from the last to the first, and appended to the nearest earlier one with room for all
of it.
best_fit: best fit decreasing; from long to short, each sequence goes to the open bin with the least sufficient room.
lpfhp, spfhp: longest and shortest pack first on the histogram of lengths (lpfhp.py, spfhp.py). Their cost grows with
the number of different lengths, not with that of sequences.
first_fit_8, first_fit_64: in order, each to the oldest of 8 or 64 open bins that has room (first_fit.py).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from corpus_assets.packing.first_fit import FirstFit
from corpus_assets.packing.lpfhp import lpfhp
from corpus_assets.packing.packs import Strategy
from corpus_assets.packing.spfhp import spfhp
from resources.errors import ConfigError

Method = Literal["nearest_previous", "best_fit", "lpfhp", "spfhp", "first_fit_8", "first_fit_64"]
METHODS: tuple[Method, ...] = get_args(Method)
_OPEN: Mapping[Method, int] = {"first_fit_8": 8, "first_fit_64": 64}
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
    from corpus_assets.packing.kernels import bins as kernels

    if method == "nearest_previous":
        members, bounds = kernels.nearest_previous(lengths, capacity)
    else:
        limit = capacity if depth is None else depth
        if method in _OPEN:
            fitting = FirstFit(capacity, _OPEN[method], depth)
            bins, count = fitting.place(lengths), fitting.count
        elif method == "best_fit":
            bins, count = kernels.best_fit(lengths, kernels.longest_first(lengths, capacity), capacity, limit)
        else:
            histogram = np.bincount(lengths, minlength=capacity + 1)[1:]
            packs = (lpfhp if method == "lpfhp" else spfhp)(histogram, limit)
            bins, count = _assign(lengths, kernels.longest_first(lengths, capacity), packs.strategies or ())
        members, bounds = kernels.in_input_order(bins, count)
    return Packing(members, bounds, np.add.reduceat(lengths[members], bounds[:-1]), capacity)


def _assign(lengths: Lengths, order: NDArray[np.int64], packs: Iterable[Strategy]) -> tuple[NDArray[np.int64], int]:
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
