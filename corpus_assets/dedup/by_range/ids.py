"""The ids of members of clusters, looked up in what the ranges of documents stored."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.by_range.members import DOCUMENTS, ENDS, NAMES
from corpus_assets.dedup.documents.numbering import Documents, Numbering, document_dtype
from corpus_assets.dedup.documents.ranges import DocumentRanges
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions


class MemberIds:
    """Ids by document number. members: all partitions of `cluster_members`, of which there is one for each range."""

    def __init__(self, members: Partitions, numbering: Numbering) -> None:
        self._members, self._ranges = members, DocumentRanges(numbering.total, len(members))

    def of(self, documents: Documents) -> Iterator[list[memoryview]]:
        """Yields the ids of documents (ascending), range by range; each must be a member of a cluster."""
        ranges = self._ranges.of(documents).astype(np.int64)
        for some in np.split(np.arange(len(documents)), np.flatnonzero(np.diff(ranges)) + 1):
            if len(some):
                yield self._of_range(self._members[int(ranges[some[0]])], documents[some])

    def id_of(self, document: int) -> str:
        """Returns the id of one member."""
        ((found,),) = self.of(np.array([document], document_dtype(self._ranges.total)))
        return str(found, "utf-8", "replace")

    def _of_range(self, partition: Partition, documents: Documents) -> list[memoryview]:
        places = np.searchsorted(partition.array(DOCUMENTS), documents)
        ends, names = partition.array(ENDS), partition.array(NAMES).data
        starts = np.where(places > 0, ends[places - 1], 0)
        return [names[start:end] for start, end in zip(starts.tolist(), ends[places].tolist(), strict=True)]
