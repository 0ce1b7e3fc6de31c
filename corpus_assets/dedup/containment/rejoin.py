"""Groups whose documents all stand in the one that is kept of another group: they join that group.

A document is compared with a few others, of those that may hold it. Of many that hold each other, one that `dedup.keep`
puts first takes those that it was compared with, and each of the others would be left with the few that it was compared
with. So if a kept document stands in one that went, it is compared with the one kept in the place of that.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.resolve import Settled
from corpus_assets.dedup.containment.settle import Decided, Relations
from corpus_assets.dedup.containment.shared import UNITS
from corpus_assets.dedup.documents.counting import counted
from corpus_assets.dedup.documents.numbering import Edges
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.similarity.check import Texts
from corpus_assets.dedup.similarity.containment import common_shingles
from corpus_assets.dedup.similarity.jaccard import OfDocument, wanted
from resources.spill import Spill, cut
from resources.stage.small_arrays import ranges

_ROUNDS = 8
_TRIED = 2
"""Other groups that a group may join in one round: those in which most of what holds its kept document went."""

_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Holding:
    """How documents are compared: the texts of `total` documents, their shingles, and the share that counts.

    template: the shingles that the set of a document leaves out.
    """

    total: int
    texts: Texts
    scheme: SignatureScheme
    least: float
    memory: int
    spill: Spill
    template: OfDocument | None = None


def rejoin(decided: Decided, settled: Settled, relations: Relations, holding: Holding) -> None:
    """Joins groups, in place, until no kept document is known to stand in one that went, or after a few rounds."""
    for _ in range(_ROUNDS):
        joins = _proposed(decided, settled, relations)
        if not len(joins) or not _joined(decided, joins, holding):
            break


def _proposed(decided: Decided, settled: Settled, relations: Relations) -> NDArray[np.int64]:
    """Returns (kept document, that of a group which it may join), shape (n, 2): the best kept document first.

    Both are places among the members. A group is only joined to one whose kept document `dedup.keep` puts before.
    """
    first = np.arange(len(decided.members))
    for block in relations.copies():
        first[decided.places_of(block[:, 1])] = decided.places_of(block[:, 0])
    kept = decided.places_of(decided.kept)
    codes, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for edges, _ in relations.held():
        own, holders = decided.places_of(edges[:, 0]), decided.places_of(edges[:, 1])
        groups, others = kept[own], kept[holders]
        # Pairs name the first document with a text; another one with it may be the one that is kept.
        asked = (first[groups] == own) & (groups != others)
        codes, counts = counted(codes, counts, groups[asked] * len(first) + others[asked])
    groups, others = np.divmod(codes, len(first))
    asked = np.unique(np.concatenate([groups, others]))
    ranks = settled.ranking(decided.members[asked])
    rank, rank_of_other = (ranks[np.searchsorted(asked, one)] for one in (groups, others))
    order = np.lexsort((rank_of_other, -counts, rank))
    order = order[rank_of_other[order] < rank[order]]
    joins = np.stack([groups, others], axis=1)[order]
    return joins[np.arange(len(joins)) - _starts(joins[:, 0]) < _TRIED]


def _joined(decided: Decided, joins: NDArray[np.int64], holding: Holding) -> int:
    """Joins, in place, the groups all of whose documents stand in the kept one of the other; returns their number."""
    kept = decided.places_of(decided.kept)
    order = np.argsort(kept, kind="stable")
    starts, stops = (np.searchsorted(kept[order], joins[:, 0], side=side) for side in ("left", "right"))
    sizes = stops - starts
    members = order[ranges(starts, stops)]
    others, of = np.repeat(joins[:, 1], sizes), np.repeat(np.arange(len(joins)), sizes)
    shares = _shares(np.stack([decided.members[members], decided.members[others]], axis=1), holding)
    passes = np.minimum.reduceat(shares >= holding.least, np.cumsum(sizes) - sizes)
    gone = set[int]()
    for place in np.flatnonzero(passes).tolist():
        group, other = joins[place].tolist()
        if group not in gone and other not in gone:
            gone.add(group)
            chosen = of == place
            decided.kept[members[chosen]] = decided.members[other]
            decided.shares[members[chosen]] = shares[chosen] * UNITS
    return len(gone)


def _shares(pairs: Edges, holding: Holding) -> NDArray[np.float64]:
    """Returns the share of the first document of each pair (n, 2) that the second one holds."""
    order = np.argsort(pairs[:, 1], kind="stable")
    texts = holding.texts(wanted([pairs], holding.total))
    blocks = cut([np.ascontiguousarray(pairs[order])], _AT_ONCE)
    found = common_shingles(
        blocks, texts, holding.scheme, memory=holding.memory, spill=holding.spill, template=holding.template
    )
    shares = np.empty(len(pairs))
    shares[order] = np.concatenate([block.shares()[:, 0] for block in found])
    return shares


def _starts(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns for each of sorted runs of equal values where its run begins."""
    begins = np.append(True, groups[1:] != groups[:-1])[: len(groups)]
    return np.maximum.accumulate(np.where(begins, np.arange(len(groups)), 0))
