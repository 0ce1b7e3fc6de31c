"""The ids of members of clusters, looked up in what the ranges of documents stored."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.members import DOCUMENTS, ENDS, NAMES
from corpus_assets.dedup.documents.numbering import Documents, Numbering, document_dtype
from corpus_assets.dedup.documents.ranges import DocumentRanges
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions

_AT_ONCE = 1 << 13
"""Ids that are gathered together, for which eight times their bytes are in memory."""


class MemberIds:
    """Ids by document number. members: all partitions of `cluster_members`, of which there is one for each range."""

    def __init__(self, members: Partitions, numbering: Numbering) -> None:
        self._members, self._ranges = members, DocumentRanges(numbering.total, len(members))
        self._open: tuple[int, _Ids] | None = None

    def of(self, documents: Documents) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """Yields the ids of documents (ascending) in blocks: how many bytes each has, and the bytes of all.

        Each document must be a member of a cluster.
        """
        ranges = self._ranges.of(documents).astype(np.int64)
        for some in np.split(np.arange(len(documents)), np.flatnonzero(np.diff(ranges)) + 1):
            for start in range(0, len(some), _AT_ONCE):
                block = some[start : start + _AT_ONCE]
                yield self._of_range(int(ranges[block[0]])).some(documents[block])

    def id_of(self, document: int) -> str:
        """Returns the id of one member."""
        ((_, found),) = self.of(np.array([document], document_dtype(self._ranges.total)))
        return str(found.tobytes(), "utf-8", "replace")

    def _of_range(self, number: int) -> "_Ids":
        # Opening files takes as long as looking up some thousands of ids, and documents ascend.
        if self._open is None or self._open[0] != number:
            self._open = number, _Ids.of(self._members[number])
        return self._open[1]


class _Ids(NamedTuple):
    """The ids of a range: the documents that have one, where that of each ends, and the bytes of all."""

    documents: Documents
    ends: NDArray[np.uint64]
    names: NDArray[np.uint8]

    @classmethod
    def of(cls, partition: Partition) -> "_Ids":
        """Opens the ids of a partition of `cluster_members`."""
        return cls(*map(partition.array, (DOCUMENTS, ENDS, NAMES)))

    def some(self, documents: Documents) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Returns the ids of members: bytes of each, and the bytes of all."""
        places = np.searchsorted(self.documents, documents)
        ends = self.ends[places].astype(np.int64)
        starts = np.where(places > 0, self.ends[places - 1], 0).astype(np.int64)
        sizes = ends - starts
        after = np.cumsum(sizes)
        return sizes, self.names[np.repeat(starts - after + sizes, sizes) + np.arange(int(after[-1]))]
