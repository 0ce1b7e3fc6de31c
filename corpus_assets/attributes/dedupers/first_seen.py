"""Sets of seen hashes: exact, or a Bloom filter."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.dedupers import Bloom
from resources.errors import ConfigError

Hashes = NDArray[np.uint64]
_LEAST_SLOTS = 1 << 10


class SeenHashes:
    """A set of 128-bit hashes. Its table grows with the number of hashes: at most 64 bytes for each."""

    def __init__(self) -> None:
        self._table = _empty(_LEAST_SLOTS)
        self._held = 0

    def mark(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Returns which of these (n, 2) occurred earlier, in this or an earlier call; adds them all."""
        from corpus_assets.attributes.dedupers.kernels.seen import mark_seen

        seen = np.empty(len(hashes), dtype=np.bool_)
        start = 0
        while start < len(hashes):
            room = len(self._table) // 2 - self._held
            if room == 0:
                self._grow()
                continue
            self._held += mark_seen(hashes[start : start + room], self._table, seen[start : start + room])
            start += room
        return seen

    def holds(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Returns which of these (n, 2) are in the set; adds none."""
        from corpus_assets.attributes.dedupers.kernels.seen import find_seen

        seen = np.empty(len(hashes), dtype=np.bool_)
        find_seen(hashes, self._table, seen)
        return seen

    def _grow(self) -> None:
        from corpus_assets.attributes.dedupers.kernels.seen import mark_seen

        held = self._table[self._table[:, 1] != 0]
        self._table = _empty(2 * len(self._table))
        mark_seen(held, self._table, np.empty(len(held), dtype=np.bool_))


def _empty(slots: int) -> Hashes:
    return np.zeros((slots, 2), dtype=np.uint64)


class SeenInFilter:
    """The same with a Bloom filter; `ConfigError` once it holds more than `items`.

    A new hash is marked with the error probability in the filter's section.
    """

    def __init__(self, name: str, bloom: Bloom) -> None:
        self._name = name
        self._bloom = bloom
        self._words = np.zeros(bloom.bytes // 8, dtype=np.uint64)
        self.held = 0

    def mark(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Returns which of these (n, 2) may have occurred earlier; adds them all."""
        from corpus_assets.attributes.dedupers.kernels.seen import mark_in_filter

        seen = np.empty(len(hashes), dtype=np.bool_)
        self.held += mark_in_filter(hashes, self._words, self._bloom.functions, seen)
        if self.held > self._bloom.items:
            raise ConfigError(
                f"dedupers.{self._name}.bloom.items is {self._bloom.items:,}, but there are more different hashes than "
                f"that: {self.held:,} or more; give a larger number"
            )
        return seen
