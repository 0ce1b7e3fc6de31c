"""Kept documents of a cluster that the guard split are compared with each other, by their texts.

Growth along pairs leaves kept documents that no pair joins, though they may be similar. Of these the worse one goes.
Its group is dealt out again: each document to a kept one that it is similar to, else it is kept itself.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.sketched import sketched
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import least_agreement
from corpus_assets.dedup.similarity.among import Likeness, first_similar, near
from corpus_assets.dedup.similarity.check import Texts, away
from corpus_assets.dedup.similarity.jaccard import CleanedTexts, OfDocument, ShingleSets, wanted
from resources.spill import Spill

_HOPELESS = 7
"""Standard errors below the threshold at which texts are not compared. Those of short texts are a third larger."""
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Comparison:
    """How documents are compared: the sketches and texts of `total` documents, and the similarity that counts.

    template: the shingles that the set of a document leaves out.
    """

    total: int
    bits: int
    sketches: Column
    texts: Texts
    scheme: SignatureScheme
    threshold: float
    memory: int
    spill: Spill
    template: OfDocument | None = None


@dataclass(frozen=True)
class Groups:
    """The groups of one cluster, by its different texts.

    members: the first document with each text, shape (k,). ranks: of the texts, different, the least is the best.
    leads: the place of the text that leads the group of each; changed in place.
    """

    members: Documents
    ranks: NDArray[np.int64]
    leads: Places

    def ordered(self, places: Places) -> Places:
        """Returns places of texts, the best first."""
        return places[np.argsort(self.ranks[places])]


class _Ordered(NamedTuple):
    """Documents of one cluster, the best first; the first `fixed` are known to be unlike each other."""

    members: Documents
    fixed: int


def compare_leaders(groups: Sequence[Groups], comparison: Comparison) -> None:
    """Changes the groups so that no two leaders of a cluster are similar.

    A leader that is similar to a better one joins it, the best of several. So does each document of the group that it
    led; one that is similar to no leader becomes one.
    """
    leaders = [group.ordered(np.unique(group.leads)) for group in groups]
    asked = (_Ordered(group.members[ours], 0) for group, ours in zip(groups, leaders, strict=True))
    again: list[tuple[Groups, Places, int]] = []
    for group, ours, joined in zip(groups, leaders, _joined(asked, comparison), strict=True):
        goes = joined != np.arange(len(ours))
        left = np.setdiff1d(np.flatnonzero(np.isin(group.leads, ours[goes])), ours)
        group.leads[ours] = ours[joined]
        if len(left):
            again.append((group, np.concatenate([ours[~goes], group.ordered(left)]), int((~goes).sum())))
    asked = (_Ordered(group.members[ours], fixed) for group, ours, fixed in again)
    for (group, ours, _), joined in zip(again, _joined(asked, comparison), strict=True):
        group.leads[ours] = ours[joined]


def _joined(asked: Iterable[_Ordered], comparison: Comparison) -> Iterator[Places]:
    """Yields for each cluster the places (n,) of the documents that its documents join, their own if they stay.

    Texts are read at once for all clusters, and only those of documents whose sketch is near that of another.
    """
    least = least_agreement(away(comparison.threshold, comparison.bits, -_HOPELESS), comparison.bits)
    likeness = Likeness(comparison.threshold, least, comparison.memory // 4)
    numbers, near_others, compared = list[Places](), list[Places](), list[_Ordered]()
    for cluster, held in sketched(asked, comparison.sketches):
        places = np.flatnonzero(near(held, least, cluster.fixed))
        numbers.append(np.arange(len(cluster.members)))
        near_others.append(places)
        compared.append(_Ordered(cluster.members[places], int(np.searchsorted(places, cluster.fixed))))
    with comparison.spill() as file:
        documents = wanted((cluster.members for cluster in compared), comparison.total)
        texts = CleanedTexts(file, comparison.texts(documents))
        sets = ShingleSets(texts, comparison.scheme, comparison.memory // 2, comparison.template)
        found = sketched(compared, comparison.sketches)
        for joined, places, (cluster, held) in zip(numbers, near_others, found, strict=True):
            rows = texts.rows(cluster.members).tolist()
            joined[places] = places[first_similar(rows, held, sets, likeness, cluster.fixed)]
            yield joined
