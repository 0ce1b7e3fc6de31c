"""First fit with a limited number of open packs, for sequences in a given order, as in loaders of trainers."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from corpus_assets.packing.histogram import checked
from corpus_assets.packing.order import keyed_order
from corpus_assets.packing.packs import Packs
from resources.errors import ConfigError

Lengths = NDArray[np.int64]


class FirstFit:
    """Places sequences one by one: each goes to the oldest open pack that has room for it, or to a new one.

    If no more packs may be open, the oldest is closed for the new one. A pack without room, or with `depth` sequences,
    closes too. With one open pack this is next fit. Memory is that of the open packs. count: packs so far.
    """

    def __init__(self, capacity: int, open_packs: int, depth: int | None = None) -> None:
        if open_packs < 1:
            raise ConfigError(f"open packs are {open_packs}; valid: 1 or more")
        self.capacity = capacity
        self._depth = capacity if depth is None else depth
        self._packs = np.zeros((3, open_packs), np.int64)
        self._state = np.zeros(2, np.int64)

    @property
    def count(self) -> int:
        """Packs that were begun."""
        return int(self._state[1])

    def place(self, lengths: NDArray[np.integer]) -> Lengths:
        """Returns the pack of every sequence: int64 (n,). ValueError for a length out of range."""
        from corpus_assets.packing.kernels import first_fit as kernels

        sizes = np.ascontiguousarray(lengths, np.int64)
        if sizes.size and (sizes.min() < 1 or sizes.max() > self.capacity):
            raise ValueError(f"sequences of {sizes.min()} to {sizes.max()} ids; valid: 1 to {self.capacity}")
        return kernels.place(sizes, self.capacity, self._depth, self._packs, self._state)


def first_fit(histogram: NDArray[np.integer], depth: int | None = None, *, open_packs: int) -> Packs:
    """Returns the packs of the sequences of a histogram in keyed order. Time follows the number of sequences."""
    counts = checked(histogram, depth)
    return first_fit_of(keyed_order(counts), counts.size, depth, open_packs=open_packs)


def first_fit_of(blocks: Iterable[Lengths], capacity: int, depth: int | None = None, *, open_packs: int) -> Packs:
    """Returns the packs of sequences as they come. blocks: int64 (n,), lengths of some sequences."""
    fitting = FirstFit(capacity, open_packs, depth)
    sequences = tokens = 0
    for lengths in blocks:
        fitting.place(lengths)
        sequences += lengths.size
        tokens += int(lengths.sum())
    return Packs(capacity=capacity, count=fitting.count, sequences=sequences, tokens=tokens)
