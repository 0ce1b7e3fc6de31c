"""Ids of kept documents of clusters: document number to id, as three arrays."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.columns import by_shard
from corpus_assets.dedup.documents.numbering import Numbering
from resources.hashing import keyed_hashes

_AT_ONCE = 1 << 16
_MOST_BYTES = 1 << 25
IdTables = Callable[[int], tuple[NDArray[np.uint64], NDArray[np.uint8]]]
"""For a shard's position: the end of each row's id, and the concatenated ids."""


def ids_of(
    numbering: Numbering, documents: NDArray[np.unsignedinteger[Any]], tables: IdTables
) -> Iterator[tuple[NDArray[np.unsignedinteger[Any]], list[bytes | memoryview], NDArray[np.uint64]]]:
    """Yields blocks of (documents, their ids, a hash of each id), each of one shard, for ascending documents."""
    for position, ours in by_shard(np.asarray(numbering.starts, dtype=np.uint64), documents):
        rows = numbering.rows_of(ours, np.full(len(ours), position)).astype(np.int64)
        ends, characters = tables(position)
        for some in range(0, len(rows), _AT_ONCE):
            chosen = rows[some : some + _AT_ONCE]
            starts, stops = np.where(chosen > 0, ends[chosen - 1], 0).astype(np.int64), ends[chosen].astype(np.int64)
            first, last = int(starts[0]), int(stops[-1])
            # A slice of bytes takes a third of the time that one of a mapped file takes.
            held = characters[first:last].tobytes() if last - first <= _MOST_BYTES else characters[first:last].data
            cuts = zip((starts - first).tolist(), (stops - first).tolist(), strict=True)
            found = [held[start:end] for start, end in cuts]
            hashes = np.fromiter(keyed_hashes("id", 0, found), dtype=np.uint64, count=len(found))
            yield ours[some : some + _AT_ONCE], found, hashes


class KeptIds:
    """Looks up the id of a kept document in the stored arrays."""

    def __init__(self, documents: NDArray[Any], ends: NDArray[np.uint64], characters: NDArray[np.uint8]) -> None:
        self._documents = documents
        self._ends = ends
        self._characters = characters

    def id_of(self, document: int) -> str:
        """Returns the id of a document; `KeyError` if it is not the kept one of a cluster."""
        place = int(np.searchsorted(self._documents, self._documents.dtype.type(document)))
        if place == len(self._documents) or int(self._documents[place]) != document:
            raise KeyError(document)
        start = int(self._ends[place - 1]) if place else 0
        return self._characters[start : int(self._ends[place])].tobytes().decode("utf-8", "surrogatepass")
