"""Positions of documents in an ascending list of millions, from a bitmap of all documents instead of a search."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Documents

_WORD = np.uint64(63)
_SHIFT = np.uint64(6)


class Places:
    """The positions of `documents`, ascending and different, out of `total`.

    Holds 1/4 byte per document of `total`: a bit for each, and for every 64 of them how many of the list come before.
    """

    def __init__(self, documents: Documents, total: int) -> None:
        self._bits = np.zeros(total // 64 + 1, dtype=np.uint64)
        numbers = documents.astype(np.uint64)
        np.bitwise_or.at(self._bits, numbers >> _SHIFT, np.uint64(1) << (numbers & _WORD))
        self._before = np.zeros(len(self._bits), dtype=np.intp)
        np.cumsum(np.bitwise_count(self._bits[:-1]), out=self._before[1:])

    def of(self, documents: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.intp]:
        """Returns how many documents of the list are smaller than each: its position, if it is in the list."""
        numbers = documents.astype(np.uint64)
        words, below = numbers >> _SHIFT, (np.uint64(1) << (numbers & _WORD)) - np.uint64(1)
        found: NDArray[np.intp] = self._before[words] + np.bitwise_count(self._bits[words] & below)
        return found
