"""Some clusters, numbered among themselves, so that what works on the documents of a corpus works on theirs."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.by_range.configured import comparison_of, rules_of
from corpus_assets.dedup.by_range.found import Found
from corpus_assets.dedup.by_range.stored import FACTS
from corpus_assets.dedup.clusters.guard import Finding
from corpus_assets.dedup.clusters.keep import Facts, ranks_of_documents, source_ranks
from corpus_assets.dedup.clusters.leaders import Comparison
from corpus_assets.dedup.clusters.numbers import ClusterNumbers
from corpus_assets.dedup.clusters.resolve import Pairs, Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.clusters.worst import WORST
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents, Edges, Numbering
from corpus_assets.dedup.shared import ORDER, texts_of
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.similarity.jaccard import OfDocument, occurring, wanted
from resources.stage.task import Task


class Block(NamedTuple):
    """Members of clusters (n,), ascending; the kept document and the size of the cluster of each.

    ids: hashes of the ids of the kept documents.
    """

    members: Documents
    kept: Documents
    sizes: Documents
    ids: NDArray[np.uint64]


@dataclass(frozen=True)
class Corpus:
    """What a group is a part of: the numbers of all documents, and the scheme of their sketches."""

    task: Task
    numbering: Numbering
    sketched: Sketched


class Group:
    """Whole clusters: rows of `member_row` in the order of their numbers, and the pairs between them.

    copies: of the first document with a text and a later one. similar: all others. Within the group a document has its
    place as number. Places are in the order of the numbers, so that everything is decided as it is in the corpus.
    """

    def __init__(self, corpus: Corpus, rows: NDArray[Any], copies: Edges, similar: Edges) -> None:
        self._task, self._numbering, self._sketched = corpus.task, corpus.numbering, corpus.sketched
        self._rows = rows
        self._members: Documents = np.ascontiguousarray(rows["member"])
        self._own = Numbering.of([("", len(rows))])
        self._copies, self._similar = self._places(copies), self._places(similar)
        self._exact = copies[np.argsort(copies[:, 1])]

    def settled(self, found: Found) -> Iterator[Block]:
        """Yields what becomes of the members, ascending through all blocks; adds numbers and findings to `found`."""
        sets = UnionFind(len(self._rows))
        for edges in (self._copies, self._similar):
            sets.add(edges)
        settled = Settled(sets, self._task["dedup.keep"], self._facts())
        found.gone += self._guarded(settled, found)
        for best, size, some in settled.largest(WORST):
            found.add_large(int(self._members[best]), size, self._members[some])
        numbers = ClusterNumbers(self._numbering, self._exact)
        for places, kept, counts in settled.blocks():
            members, instead = self._members[places], self._members[kept]
            sizes = counts.astype(self._members.dtype)
            numbers.add(members, instead, sizes)
            yield Block(members, instead, sizes, self._rows["id"][kept])
        found.numbers.merge(numbers.counts())

    def _places(self, pairs: Edges) -> Edges:
        return np.searchsorted(self._members, pairs).astype(self._own.dtype)

    def _facts(self) -> Facts:
        order = self._task[ORDER]
        ranks = dict(zip(order, source_ranks(order, self._task["dedup.priority"]), strict=True))
        of_source = ranks_of_documents(self._numbering.starts, [ranks[name] for name in self._numbering.sources])
        facts: dict[Any, Any] = {"source": lambda places: of_source(self._members[places])}
        for rule, (column, _) in FACTS.items():
            facts[rule] = lambda places, column=column: self._rows[column][places]
        return facts

    def _guarded(self, settled: Settled, found: Found) -> int:
        """Splits clusters as the guard decides; returns how many kept documents of split clusters joined another."""
        bits = self._sketched.bits
        sketches = np.ascontiguousarray(self._rows["sketch"]).view(np.uint8)
        column = Column(self._own, lambda _: sketches, np.empty((0, bits // 8), np.uint8))

        def on_finding(one: Finding) -> None:
            found.worst.add(replace(one, kept=int(self._members[one.kept]), members=self._members[one.members]))

        return guard_clusters(
            settled,
            Pairs(lambda: iter([self._copies]), lambda: iter([self._similar])),
            guard=rules_of(self._task, bits),
            sketches=column,
            scale=Scale(len(self._rows), bits, self._task.memory // 4, self._task.scratch),
            on_finding=on_finding,
            comparison=self._comparison(column),
        )

    def _comparison(self, sketches: Column) -> Comparison | None:
        asked = comparison_of(self._task, self._numbering, sketches, self._sketched)
        if asked is None:
            return None
        template = None if asked.template is None else self._of_place(asked.template)
        memory = self._task.memory // 2
        return replace(asked, total=len(self._rows), texts=self._texts, template=template, memory=memory)

    def _of_place(self, template: OfDocument) -> OfDocument:
        return lambda place: template(int(self._members[place]))

    def _texts(self, bitmap: NDArray[np.uint8]) -> Iterator[tuple[int, str]]:
        """Yields place and text of the documents in a bitmap of places."""
        asked = wanted([self._members[occurring(bitmap, 0, len(self._rows))]], self._numbering.total)
        for number, text in texts_of(self._task.inputs("normalized_documents"), self._numbering, asked):
            yield int(np.searchsorted(self._members, self._members.dtype.type(number))), text
