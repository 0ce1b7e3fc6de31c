"""A sample in bounded memory: the texts with the smallest hashes. It depends on nothing but the texts."""

import numpy as np
from numpy.typing import NDArray

from resources.hashing import keyed_hash

PLACES = np.dtype([("hash", "<u8"), ("part", "<u4"), ("row", "<u4")])
"""Hash of a text, and where it is: which shard or file, and which row of it."""

Places = NDArray[np.void]
_MORE = 1 << 16


def example_hash(seed: int, text: str) -> int:
    """Returns the hash by which a text is chosen."""
    return keyed_hash("classifier", seed, text)


class Lowest:
    """Keeps up to `most` places with the smallest hashes; of equal hashes, which are equal texts, the first place."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: Places = np.empty(0, PLACES)
        self._new: list[tuple[int, int, int]] = []
        self._limit = 1 << 64

    def add(self, value: int, part: int, row: int) -> None:
        """Adds a place."""
        if value < self._limit:
            self._new.append((value, part, row))
            if len(self._new) >= _MORE:
                self.found()

    def add_all(self, places: Places) -> None:
        """Adds many places at once."""
        self._kept = self._lowest(np.concatenate([self._kept, places]))

    def found(self) -> Places:
        """Returns the places, in the order of their hashes."""
        self.add_all(np.array(self._new, PLACES))
        self._new.clear()
        if len(self._kept) == self._most:
            self._limit = int(self._kept["hash"][-1])
        return self._kept

    def _lowest(self, places: Places) -> Places:
        ordered = np.sort(places)
        first = np.ones(len(ordered), np.bool_)
        first[1:] = ordered["hash"][1:] != ordered["hash"][:-1]
        return ordered[first][: self._most]


def parts_of(hashes: NDArray[np.uint64], seed: int, holdout: float) -> NDArray[np.int8]:
    """Returns for each example of a class whether it is trained on (0), calibrated on (1) or held out (2).

    By a second hash; at least one example is calibrated on, and one held out.
    """
    second = [keyed_hash("classifier part", seed, value) for value in hashes.tolist()]
    ranks = np.argsort(np.argsort(second, kind="stable"), kind="stable")
    share = max(1, round(len(hashes) * holdout))
    return np.where(ranks < share, 2, np.where(ranks < 2 * share, 1, 0)).astype(np.int8)
