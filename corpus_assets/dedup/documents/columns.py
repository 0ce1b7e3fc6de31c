"""A column of all shards as one: rows by document number, one shard's file open at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Numbering

Load = Callable[[int], NDArray[Any]]


class Column:
    """`load(position)` gives the array of the shard at that position of the numbering, memory-mapped or not."""

    def __init__(self, numbering: Numbering, load: Load, empty: NDArray[Any]) -> None:
        self._starts = np.asarray(numbering.starts, dtype=np.uint64)
        self._load = load
        self._empty = empty

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Returns a copy of the rows of documents `start` to `stop`."""
        first = int(np.searchsorted(self._starts, start, side="right")) - 1
        found = []
        for position in range(max(first, 0), len(self._starts) - 1):
            low, high = int(self._starts[position]), int(self._starts[position + 1])
            if low >= stop:
                break
            if high > start and high > low:
                found.append(np.array(self._load(position)[max(start - low, 0) : stop - low]))
        return np.concatenate(found) if found else self._empty

    def take(self, documents: NDArray[np.unsignedinteger]) -> NDArray[Any]:
        """Returns a copy of the rows of these documents, which must be ascending."""
        found = []
        for position, ours in by_shard(self._starts, documents):
            found.append(np.array(self._load(position)[ours - documents.dtype.type(self._starts[position])]))
        return np.concatenate(found) if found else self._empty


def by_shard(
    starts: NDArray[np.uint64], documents: NDArray[np.unsignedinteger]
) -> Iterator[tuple[int, NDArray[np.unsignedinteger]]]:
    """Yields (position of a shard, its documents) for each shard that has any of these documents (ascending).

    `starts` are the numbers of the shards' first rows, and one entry more.
    """
    place = 0
    while place < len(documents):
        position = int(np.searchsorted(starts, documents[place].astype(np.uint64), side="right")) - 1
        end = int(np.searchsorted(documents, min(int(starts[position + 1]), np.iinfo(documents.dtype).max)))
        yield position, documents[place:end]
        place = end
