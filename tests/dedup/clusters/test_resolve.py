"""The guard over all clusters: what it hands out, and what it moves, at the moment it is called."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.clusters import sketched
from corpus_assets.dedup.clusters.guard import Finding, GuardRules
from corpus_assets.dedup.clusters.resolve import Pairs, Scale, Settled, guard_clusters
from corpus_assets.dedup.clusters.union_find import UnionFind
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Edges, Numbering
from tests.resources.test_spill import Files

BITS = 64
TOTAL = 40
CHAIN = range(10)
PAIR = (20, 21)
ALIKE = range(30, 36)


def sketches() -> NDArray[np.uint8]:
    """Documents of the chain differ from the one before in 8 bits; those of the other clusters are alike."""
    bits = np.zeros((TOTAL, BITS), dtype=np.uint8)
    for place in CHAIN:
        bits[place, : 8 * min(place, 8)] = 1
    return np.packbits(bits, axis=1)


def edges() -> Iterator[Edges]:
    yield np.array([(left, left + 1) for left in CHAIN[:-1]], dtype=np.uint32)
    yield np.array([PAIR, *((ALIKE[0], later) for later in ALIKE[1:])], dtype=np.uint32)


def settled() -> Settled:
    sets = UnionFind(TOTAL)
    for block in edges():
        sets.add(block)
    return Settled(sets, ["first"], {})


def guarded(rules: GuardRules) -> tuple[Settled, list[Finding]]:
    clusters = settled()
    findings: list[Finding] = []
    column = Column(Numbering.of([("a", 15), ("b", TOTAL - 15)]), slices, np.empty((0, BITS // 8), dtype=np.uint8))
    guard_clusters(
        clusters,
        Pairs(lambda: iter(()), edges),
        guard=rules,
        sketches=column,
        scale=Scale(TOTAL, BITS, 1 << 20, Files()),
        on_finding=findings.append,
    )
    return clusters, findings


def slices(position: int) -> NDArray[np.uint8]:
    return sketches()[:15] if position == 0 else sketches()[15:]


def rows(clusters: Settled) -> list[list[int]]:
    """(member, kept, size) of all members."""
    return [row for block in clusters.blocks() for row in np.stack(block, axis=1).tolist()]


def test_a_chain_is_split_when_the_guard_is_called() -> None:
    clusters, findings = guarded(GuardRules(max_cluster=5, resemblance=0.5))
    found = {finding.kept: finding for finding in findings}
    assert sorted(found) == [0, 30]
    assert found[0].members.tolist() == list(CHAIN)
    assert found[0].examined is not None
    assert found[0].examined.kept.tolist() == [0, 3, 6]
    assert (found[30].size, found[30].examined and found[30].examined.unlike) == (len(ALIKE), 0)
    groups = [(range(3), 0), (range(3, 6), 3), (range(6, 10), 6), (PAIR, 20), (ALIKE, 30)]
    assert rows(clusters) == [[member, kept, len(members)] for members, kept in groups for member in members]


@pytest.mark.parametrize("action", ["report", "off"])
def test_only_a_split_moves_documents(action: str) -> None:
    clusters, findings = guarded(GuardRules("report" if action == "report" else "off", 5, 0.5))
    assert sorted(finding.kept for finding in findings) == ([0, 30] if action == "report" else [])
    assert rows(clusters) == rows(settled())


def test_a_cluster_too_large_to_examine_stays_and_is_a_finding_if_a_document_is_unlike() -> None:
    clusters, findings = guarded(GuardRules(max_cluster=5, resemblance=0.5, max_examined=5))
    assert [(finding.kept, finding.size, finding.members.tolist(), finding.examined) for finding in findings] == [
        (0, len(CHAIN), [0], None)
    ]
    assert rows(clusters) == rows(settled())


class Counted(Column):
    """Sketches that note of how many documents they are read at once."""

    def __init__(self, numbering: Numbering, sketches: NDArray[np.uint8]) -> None:
        starts = numbering.starts
        super().__init__(numbering, lambda place: sketches[starts[place] : starts[place + 1]], sketches[:0])
        self.read: list[int] = []

    def take(self, documents: NDArray[np.unsignedinteger]) -> NDArray[Any]:
        self.read.append(len(documents))
        return super().take(documents)


def split_in_batches(sizes: list[int], shards: int, seed: int, at_once: int) -> tuple[list[object], list[int]]:
    """Rows and findings over random clusters of these sizes, and of how many documents sketches were read at once."""
    chance, total = np.random.default_rng(seed), sum(sizes)
    bits = np.packbits(chance.random((total, BITS)) < 0.15, axis=1)
    sets, links = UnionFind(total), []
    for members in np.split(chance.permutation(total).astype(np.uint32), np.cumsum(sizes)[:-1]):
        links += [np.sort([members[chance.integers(place)], members[place]]) for place in range(1, len(members))]
    pairs = np.array(links, dtype=np.uint32).reshape(-1, 2)
    sets.add(pairs)
    clusters, findings = Settled(sets, ["first"], {}), list[Finding]()
    column = Counted(Numbering.of((str(shard), -(-total // shards)) for shard in range(shards)), bits)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sketched, "_DOCUMENTS_AT_ONCE", at_once)
        guard_clusters(
            clusters,
            Pairs(lambda: iter(()), lambda: iter([pairs])),
            guard=GuardRules(max_cluster=3, resemblance=0.6, max_examined=12),
            sketches=column,
            scale=Scale(total, BITS, 1 << 16, Files()),
            on_finding=findings.append,
        )
    return [rows(clusters), *(repr(finding) for finding in findings)], column.read


@given(
    sizes=st.lists(st.integers(1, 15), min_size=1, max_size=20),
    shards=st.integers(1, 4),
    seed=st.integers(0, 99),
    at_once=st.integers(1, 60),
)
def test_the_sketches_of_many_clusters_are_read_at_once_and_change_nothing(
    sizes: list[int], shards: int, seed: int, at_once: int
) -> None:
    found, read = split_in_batches(sizes, shards, seed, at_once)
    alone, each = split_in_batches(sizes, shards, seed, 0)
    assert found == alone
    assert sum(read) == sum(each)
    assert len(read) <= len(each)
    assert max(read, default=0) <= max(at_once, *each, 0)
    assert all(one + other > at_once for one, other in pairwise(read))
