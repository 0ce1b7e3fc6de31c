"""The stored mix of a dataset: how often each document of a partition is used."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.export.weights.uses import Mix, times_of
from resources.documents.unit_tables import NO_UNIT, UNITS
from resources.stage.partition import Partition

MIXTURE: Final = "mixture.json"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class StoredMix(NamedTuple):
    """A mix, and the partition that holds it: with units also the unit of each document, by partition of the stream."""

    mix: Mix
    partition: Partition

    @property
    def seed(self) -> int:
        """Of the choice and order of documents."""
        return self.mix.seed

    def order(self, hashes: NDArray[np.uint64], times: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the order of documents that are used `times` (n,), one after another: as given, unless any repeats.

        Then it is that of another hash for each copy, so that copies lie apart; in a mix in order of a score, all uses
        of a chunk follow in that order, first all first ones.
        """
        copies = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
        if times.max(initial=0) <= 1:
            return np.arange(len(copies))
        keys = copies if self.mix.ordered else scrambled(np.repeat(hashes, times), copies.astype(np.uint64))
        return np.argsort(keys, kind="stable")

    def times(
        self, key: str, hashes: NDArray[np.uint64], sources: Sequence[str], numbers: NDArray[Any]
    ) -> NDArray[np.int64]:
        """Returns how often documents are used, (n,) like their hashes.

        key: of the partition of the token stream, or of the split that it is made of. sources: names of sources.
        numbers: of the source of each document in `sources`, (n,).
        """
        names, used = sources, self.mix.used
        if self.mix.units:
            names, numbers = [*used], self._units(key, hashes)
        times = np.zeros(len(hashes), np.int64)
        for number, name in enumerate(names):
            if (use := used.get(name)) is not None:
                chosen = numbers == number
                times[chosen] = times_of(hashes[chosen], use)
        return times

    def _units(self, key: str, hashes: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """Returns the number of each document's unit among those with a target; `NO_UNIT` for others."""
        table = self.partition.array(f"{key}{UNITS}")
        found = np.full(len(hashes), NO_UNIT, np.uint16)
        if len(table):
            places = np.minimum(np.searchsorted(table["hash"], hashes), len(table) - 1)
            known = table["hash"][places] == hashes
            found[known] = table["unit"][places[known]]
        return found


def stored_mix(partition: Partition) -> StoredMix:
    """Returns the mix stored in a partition."""
    return StoredMix(mix_of(partition), partition)


def mix_of(partition: Partition) -> Mix:
    """Returns how sources, units or parts are used, as a partition stores it."""
    return msgspec.convert(partition.json(MIXTURE), Mix)


def scrambled(hashes: NDArray[np.uint64], copies: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns another hash for each copy of a document (the finalizer of splitmix64)."""
    mixed_up: NDArray[np.uint64] = hashes + (copies + np.uint64(1)) * _GOLDEN
    mixed_up = (mixed_up ^ (mixed_up >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed_up = (mixed_up ^ (mixed_up >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: NDArray[np.uint64] = mixed_up ^ (mixed_up >> np.uint64(31))
    return found
