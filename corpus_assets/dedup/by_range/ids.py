"""The ids of members of clusters, looked up in what the ranges of documents stored."""

from collections.abc import Iterator

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

    def of(self, documents: Documents) -> Iterator[tuple[NDArray[np.int64], NDArray[np.uint8]]]:
        """Yields the ids of documents (ascending) in blocks: how many bytes each has, and the bytes of all.

        Each document must be a member of a cluster.
        """
        ranges = self._ranges.of(documents).astype(np.int64)
        for some in np.split(np.arange(len(documents)), np.flatnonzero(np.diff(ranges)) + 1):
            for start in range(0, len(some), _AT_ONCE):
                block = some[start : start + _AT_ONCE]
                yield _ids(self._members[int(ranges[block[0]])], documents[block])

    def id_of(self, document: int) -> str:
        """Returns the id of one member."""
        ((_, found),) = self.of(np.array([document], document_dtype(self._ranges.total)))
        return str(found.tobytes(), "utf-8", "replace")


def _ids(partition: Partition, documents: Documents) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Returns the ids of members of the partition: bytes of each, and the bytes of all."""
    places = np.searchsorted(partition.array(DOCUMENTS), documents)
    all_ends = partition.array(ENDS)
    ends, starts = all_ends[places].astype(np.int64), np.where(places > 0, all_ends[places - 1], 0).astype(np.int64)
    sizes = ends - starts
    after = np.cumsum(sizes)
    where = np.repeat(starts - after + sizes, sizes) + np.arange(int(after[-1]))
    return sizes, partition.array(NAMES)[where]
