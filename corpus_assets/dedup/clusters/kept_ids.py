"""Ids of kept documents of clusters: document number to id, as three arrays."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.columns import by_shard
from corpus_assets.dedup.documents.numbering import Numbering
from resources.hashing import keyed_hashes

IdTables = Callable[[int], tuple[NDArray[np.uint64], NDArray[np.uint8]]]
"""For a shard's position: the end of each row's id, and the concatenated ids."""


def ids_of(
    numbering: Numbering, documents: NDArray[np.unsignedinteger[Any]], tables: IdTables
) -> Iterator[tuple[NDArray[np.unsignedinteger[Any]], list[memoryview], NDArray[np.uint64]]]:
    """Yields (documents, their ids, a hash of each id), shard by shard, for documents in ascending order."""
    for position, ours in by_shard(np.asarray(numbering.starts, dtype=np.uint64), documents):
        rows = numbering.rows_of(ours, np.full(len(ours), position)).astype(np.int64)
        ends, characters = tables(position)
        starts = np.where(rows > 0, ends[rows - 1], 0)
        cuts = zip(starts.tolist(), ends[rows].tolist(), strict=True)
        view = characters.data
        found = [view[start:end] for start, end in cuts]
        yield ours, found, np.fromiter(keyed_hashes("id", 0, found), dtype=np.uint64, count=len(found))


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
