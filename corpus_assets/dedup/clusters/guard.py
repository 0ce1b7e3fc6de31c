"""Cluster guard: compares the documents of a cluster, which chains of pairs joined, with the kept one.

Connected components join a and c because both resemble b, although a and c need not resemble each other. A cluster that
is too large, or has a member unlike the kept document, is measured and may be split into groups whose members all
resemble the kept document of their group.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.networkit import networkit
from corpus_assets.dedup.documents.numbering import Documents, Edges
from corpus_assets.dedup.signatures.sketches import (
    Agreements,
    Sketches,
    agreeing,
    as_words,
    estimate,
    least_agreement,
)


@dataclass(frozen=True)
class GuardRules:
    """Which clusters are examined, and whether they are split or only reported.

    max_cluster: documents of a cluster that are not yet too many.
    resemblance: estimated Jaccard similarity to the kept document from which on a document resembles it: at 0 all do,
        at infinity none.
    paired: whether a document that a checked pair joins with the kept one always resembles it.
    max_examined: larger clusters are not examined, which would take up to a kilobyte of memory per document.
    """

    action: Literal["split", "report", "off"] = "split"
    max_cluster: int = 10_000
    resemblance: float = 0.5
    max_examined: int = 500_000
    paired: bool = False

    def least(self, bits: int) -> int:
        """Returns how many of `bits` must agree for a document to resemble another."""
        return least_agreement(self.resemblance, bits) if self.resemblance > 0 else 0


@dataclass(frozen=True)
class Examined:
    """Groups and figures of one cluster of n members; the figures are those of the whole cluster.

    groups: group of each member, shape (n,); group 0 is that of the whole cluster's kept document. kept: the kept
    document of each group, shape (groups,), best first.
    resemblances: estimated Jaccard similarity of each member to `kept[0]`, shape (n,), 0 to 1.
    unlike: members that resemble `kept[0]` less than the rules ask.
    density: edges over n * (n - 1) / 2.
    core: the largest k for which the cluster has a k-core.
    """

    groups: NDArray[np.int64]
    kept: Documents
    resemblances: NDArray[np.float64]
    unlike: int
    density: float
    core: int

    def sizes(self) -> NDArray[np.int64]:
        """Returns the number of members of each group, shape (groups,)."""
        return np.bincount(self.groups, minlength=len(self.kept))


@dataclass(frozen=True)
class Finding:
    """One suspicious cluster: its kept document, its size, its members (ascending), and the result of examining it.

    `examined` is None if the cluster was too large; then `members` are only some of it.
    """

    kept: int
    size: int
    members: Documents
    examined: Examined | None


def lowest_agreements(kept: Documents, agreements: Iterable[tuple[Edges, Agreements]], bits: int) -> Agreements:
    """Returns the least agreement of any member with the kept document of its cluster, aligned with `kept`.

    `agreements` are blocks of pairs (kept, member), shape (m, 2), and of the bits (m,) that agree out of `bits`; a
    cluster without a pair gets `bits` + 1, which satisfies every rule. `ValueError` for a pair that does not start with
    a kept document.
    """
    order = np.argsort(kept)
    ascending = kept[order]
    lowest = np.full(len(kept), bits + 1, dtype=np.uint16)
    for pairs, agree in agreements:
        places = np.searchsorted(ascending, pairs[:, 0])
        if len(pairs) and (not len(kept) or (ascending[np.minimum(places, len(kept) - 1)] != pairs[:, 0]).any()):
            raise ValueError("a pair does not start with a kept document")
        np.minimum.at(lowest, order[places], agree)
    return lowest


def suspects(sizes: NDArray[np.integer[Any]], lowest: Agreements, rules: GuardRules, bits: int) -> NDArray[np.bool_]:
    """Returns which clusters must be examined, shape (clusters,), from their sizes and `lowest_agreements`."""
    if rules.action == "off":
        return np.zeros(len(sizes), dtype=np.bool_)
    return (sizes > rules.max_cluster) | (lowest < rules.least(bits))


def examine(
    members: Documents,
    ranks: NDArray[np.int64],
    edges: Edges,
    sketches: Sketches,
    rules: GuardRules,
    *,
    copies: Edges | None = None,
) -> Examined:
    """Measures one cluster, and splits it if the rules say so and a member is unlike the kept document.

    `members` ascending, shape (n,); `ranks` from best to worst by the keep rule, 0 to n - 1; `edges` (m, 2) between
    members, which connect them, in any order and direction, repeated or not; `sketches` (n, bits / 8) in the order of
    members; `copies` (k, 2) those of the edges that join the first document of a text with a later one of the same.

    A split is leader growth: the best ungrouped document leads a new group, and ungrouped documents join it along edges
    from the group if they resemble the leader. So every document resembles the kept one of its group, and groups are
    connected. Each edge is visited at most twice. A document that resembles no other stays alone, and a large cluster
    whose members all resemble the kept one stays whole. Copies of a text always stay in one group.

    `ValueError` if an edge ends in a document that is not a member.
    """
    leader = int(np.argmin(ranks))
    bits = 8 * sketches.shape[1]
    least = rules.least(bits)
    words = as_words(sketches)
    agreements = agreeing(words, 0, words, np.full(len(members), leader))
    links = _links(members, edges)
    density, core = _density_and_core(len(members), links)
    texts, text_of = distinct_texts(members, copies)
    starts, neighbours = _adjacency(len(texts), _between(texts, text_of[links]))
    resembling = agreements >= least
    if rules.paired:
        own = text_of[leader]
        resembling |= np.isin(text_of, [own, *neighbours[starts[own] : starts[own + 1]]])
    unlike = int((~resembling).sum())
    groups = np.zeros(len(members), dtype=np.int64)
    leaders = np.array([leader])
    if unlike and rules.action == "split":
        from corpus_assets.dedup.kernels.growth import grow

        best = np.full(len(texts), len(members), dtype=np.int64)
        np.minimum.at(best, text_of, ranks)
        groups = grow(np.argsort(best), (starts, neighbours), words[texts], least, rules.paired)[text_of]
        order = np.argsort(ranks)
        leaders = order[np.sort(np.unique(groups[order], return_index=True)[1])]
    resemblances = np.maximum(estimate(agreements, bits), 0.0)
    return Examined(groups, members[leaders], resemblances, unlike, density, core)


def _links(members: Documents, edges: Edges) -> NDArray[np.uint64]:
    """Returns the different edges between members as positions of both ends, smaller first: shape (2, m), sorted."""
    ends = np.searchsorted(members, edges.T)
    if ends.size and (members[np.minimum(ends, len(members) - 1)] != edges.T).any():
        raise ValueError("an edge ends in a document that is not a member of the cluster")
    count = np.uint64(len(members))
    low, high = ends.min(axis=0).astype(np.uint64), ends.max(axis=0).astype(np.uint64)
    codes = np.unique((low * count + high)[low != high])
    return np.stack(np.divmod(codes, count))


def distinct_texts(members: Documents, copies: Edges | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the positions of the first members with each text, and for each member the index of its text."""
    first = np.arange(len(members), dtype=np.int64)
    if copies is not None and len(copies):
        firsts, later = np.searchsorted(members, copies.T)
        first[later] = firsts
    texts, text_of = np.unique(first, return_inverse=True)
    return texts, text_of


def _between(texts: NDArray[np.int64], links: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Returns the different links (2, m) between different texts."""
    ends = np.sort(links[:, links[0] != links[1]], axis=0)
    return np.stack(np.divmod(np.unique(ends[0] * len(texts) + ends[1]), len(texts))).astype(np.uint64)


def _density_and_core(count: int, links: NDArray[np.uint64]) -> tuple[float, int]:
    """Returns the share of possible edges that exist, and the largest core number (Batagelj and Zaversnik 2003)."""
    if not links.size:
        return 0.0, 0
    kit = networkit()
    threads = kit.getMaxNumberOfThreads()
    kit.setNumberOfThreads(1)
    try:
        graph = kit.Graph(count)
        graph.addEdges((links[0], links[1]))
        cores = kit.centrality.CoreDecomposition(graph, enforceBucketQueueAlgorithm=True)
        cores.run()
        return float(kit.graphtools.density(graph)), int(cores.maxCoreNumber())
    finally:
        kit.setNumberOfThreads(threads)


def _adjacency(count: int, links: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns (starts, neighbours) in compressed rows: both directions of each link."""
    tails = np.concatenate([links[0], links[1]]).astype(np.int64)
    heads = np.concatenate([links[1], links[0]]).astype(np.int64)
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=count), out=starts[1:])
    return starts, heads[np.argsort(tails, kind="stable")]
