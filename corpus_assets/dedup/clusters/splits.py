"""A cluster that the guard split: its groups by the texts of the cluster, and what becomes of its documents."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.guard import Examined, Finding, distinct_texts
from corpus_assets.dedup.clusters.leaders import Comparison, Groups, compare_leaders
from corpus_assets.dedup.documents.numbering import Documents, Edges


@dataclass
class Split:
    """A cluster of n documents that was split.

    ranks: of its documents, from best to worst, shape (n,). copies: pairs (k, 2) of the first document with a text and
    a later one with the same.
    """

    kept: int
    members: Documents
    examined: Examined
    ranks: NDArray[np.int64]
    copies: Edges

    def finding(self) -> Finding:
        """Returns what the guard found."""
        return Finding(self.kept, len(self.members), self.members, self.examined)

    def moves(self) -> tuple[Documents, Documents, NDArray[np.int64]]:
        """Returns each document, the one that is kept of its group, and the size of the group."""
        groups = self.examined.groups
        return self.members, self.examined.kept[groups], self.examined.sizes()[groups]

    def groups(self) -> Groups:
        """Returns the groups by text."""
        texts, text_of = distinct_texts(self.members, self.copies)
        best = np.full(len(texts), len(self.members), dtype=np.int64)
        np.minimum.at(best, text_of, self.ranks)
        leading = text_of[np.searchsorted(self.members, self.examined.kept)]
        return Groups(self.members[texts], best, leading[self.examined.groups[texts]])

    def regroup(self, leads: NDArray[np.int64]) -> None:
        """Groups the documents by the texts that lead those of each; the best document with such a text is kept."""
        _, text_of = distinct_texts(self.members, self.copies)
        by_rank = np.argsort(self.ranks)
        leading = by_rank[leads[text_of[by_rank]] == text_of[by_rank]]
        texts, firsts = np.unique(text_of[leading], return_index=True)
        order = np.argsort(firsts)
        number = np.zeros(len(leads), dtype=np.int64)
        number[texts[order]] = np.arange(len(order))
        kept = self.members[leading[firsts[order]]]
        self.examined = replace(self.examined, groups=number[leads[text_of]], kept=kept)


def compare(splits: list[Split], comparison: Comparison) -> int:
    """Compares the kept documents of each cluster with each other; returns how many of them go."""
    groups = [split.groups() for split in splits]
    before = [np.unique(ours.leads) for ours in groups]
    compare_leaders(groups, comparison)
    for split, ours in zip(splits, groups, strict=True):
        split.regroup(ours.leads)
    return sum(int((ours.leads[led] != led).sum()) for ours, led in zip(groups, before, strict=True))
