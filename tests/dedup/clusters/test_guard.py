from dataclasses import dataclass, replace
from random import Random

import networkit
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.clusters.guard import Examined, GuardRules, examine, lowest_agreements, suspects
from corpus_assets.dedup.kernels import growth
from corpus_assets.dedup.signatures.sketches import least_agreement
from tests.dedup import oracles

BITS, LARGE_BITS = 64, 256
RULES = GuardRules(max_cluster=5, resemblance=0.5)


@dataclass(frozen=True)
class Cluster:
    members: NDArray[np.uint32]
    ranks: NDArray[np.int64]
    edges: NDArray[np.uint32]
    sketches: NDArray[np.uint8]

    def examined(self, rules: GuardRules = RULES) -> Examined:
        return examine(self.members, self.ranks, self.edges, self.sketches, rules)

    def resembles(self, one: int, other: int) -> bool:
        return int(self.agreements(other)[one]) >= least_agreement(RULES.resemblance, 8 * self.sketches.shape[1])

    def agreements(self, others: int | NDArray[np.int64]) -> NDArray[np.int64]:
        """Bits in which each member's sketch agrees with that of the other, or of its own other."""
        bits = np.unpackbits(self.sketches, axis=1)
        return np.asarray((bits == bits[others]).sum(axis=1))


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """A connected cluster whose sketches drift along a random tree, with some more edges."""
    random = draw(st.randoms(use_true_random=False))
    n = draw(st.integers(2, 25))
    drift = draw(st.integers(0, BITS // 2))
    members = np.sort(np.array(random.sample(range(1000), n), dtype=np.uint32))
    nodes = random.sample(range(n), n)
    bits = np.zeros((n, BITS), dtype=np.uint8)
    edges = []
    for place, node in enumerate(nodes[1:], start=1):
        parent = nodes[random.randrange(place)]
        edges.append((parent, node))
        bits[node] = bits[parent]
        bits[node, random.sample(range(BITS), random.randint(0, drift))] ^= 1
    edges += [(random.randrange(n), random.randrange(n)) for _ in range(draw(st.integers(0, 20)))]
    ranks = np.array(random.sample(range(n), n), dtype=np.int64)
    return Cluster(members, ranks, members[np.array(edges)], np.packbits(bits, axis=1))


def pieces_of(cluster: Cluster, places: list[int]) -> int:
    """Connected pieces of the cluster's graph within these members."""
    inside = set(cluster.members[places].tolist())
    graph = networkit.Graph(len(places))
    local = {number: node for node, number in enumerate(sorted(inside))}
    for left, right in cluster.edges.tolist():
        if left in inside and right in inside:
            graph.addEdge(local[left], local[right])
    components = networkit.components.ConnectedComponents(graph).run()
    return int(components.numberOfComponents())


@given(clusters())
def test_groups_are_connected_and_resemble_the_best_of_them(cluster: Cluster) -> None:
    examined = cluster.examined()
    n = len(cluster.members)
    assert examined.groups.shape == (n,)
    assert set(examined.groups.tolist()) == set(range(len(examined.kept)))
    assert examined.sizes().sum() == n
    leaders = np.searchsorted(cluster.members, examined.kept)
    assert (np.diff(cluster.ranks[leaders]) > 0).all()
    for group, leader in enumerate(leaders.tolist()):
        places = np.flatnonzero(examined.groups == group).tolist()
        assert min(places, key=lambda place: cluster.ranks[place]) == leader
        assert all(cluster.resembles(leader, place) for place in places)
        assert pieces_of(cluster, places) == 1
    for left, right in np.searchsorted(cluster.members, cluster.edges).tolist():
        # A neighbour in a later group was free when this group grew, so it must be unlike the leader.
        if (first := int(examined.groups[left])) < examined.groups[right]:
            assert not cluster.resembles(int(leaders[first]), right)


@given(clusters(), st.randoms(use_true_random=False))
def test_order_direction_and_number_of_edges_do_not_matter(cluster: Cluster, random: Random) -> None:
    edges = [pair if random.random() < 0.5 else pair[::-1] for pair in cluster.edges.tolist() * 2]
    random.shuffle(edges)
    shuffled = replace(cluster, edges=np.array(edges, dtype=np.uint32)).examined()
    examined = cluster.examined()
    assert shuffled.groups.tolist() == examined.groups.tolist()
    assert shuffled.kept.tolist() == examined.kept.tolist()
    assert (shuffled.density, shuffled.core) == (examined.density, examined.core)


def examined_by_definition(cluster: Cluster) -> Examined:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "grow", oracles.grow)
        return cluster.examined()


@given(clusters(), st.randoms(use_true_random=False))
def test_paired_documents_resemble_each_other_and_copies_stay_together(cluster: Cluster, random: Random) -> None:
    """Every text of a cluster gets copies: they share its group, and a group is paired with its leader."""
    rules = replace(RULES, paired=True)
    alone = cluster.examined(rules)
    leaders = np.searchsorted(cluster.members, alone.kept)
    pairs = {frozenset(edge) for edge in cluster.edges.tolist()}
    for place, group in enumerate(alone.groups.tolist()):
        own, leader = int(cluster.members[place]), int(alone.kept[group])
        assert own == leader or frozenset((own, leader)) in pairs or cluster.resembles(place, int(leaders[group]))
    chosen = np.array(sorted(random.sample(range(len(cluster.members)), random.randint(1, len(cluster.members)))))
    copies = np.stack([cluster.members[chosen], cluster.members[chosen] + 1000], axis=1).astype(np.uint32)
    best_first = random.random() < 0.5
    later_ranks = np.arange(len(chosen)) + (0 if best_first else len(cluster.members))
    with_copies = examine(
        np.concatenate([cluster.members, copies[:, 1]]),
        np.concatenate([cluster.ranks + (len(chosen) if best_first else 0), later_ranks]),
        np.concatenate([cluster.edges, copies]),
        np.concatenate([cluster.sketches, cluster.sketches[chosen]]),
        rules,
        copies=copies,
    )
    groups = with_copies.groups
    assert groups[len(cluster.members) :].tolist() == groups[chosen].tolist()
    if not best_first:
        assert groups[: len(cluster.members)].tolist() == alone.groups.tolist()
        assert with_copies.kept.tolist() == alone.kept.tolist()


@given(clusters())
def test_groups_grow_as_defined(cluster: Cluster) -> None:
    expected, examined = examined_by_definition(cluster), cluster.examined()
    assert examined.groups.tolist() == expected.groups.tolist()
    assert examined.kept.tolist() == expected.kept.tolist()


@given(clusters())
def test_figures_of_the_whole_cluster(cluster: Cluster) -> None:
    for action in ("split", "report"):
        examined = cluster.examined(replace(RULES, action=action))
        best = int(np.argmin(cluster.ranks))
        n = len(cluster.members)
        assert examined.unlike == sum(not cluster.resembles(best, place) for place in range(n))
        assert np.allclose(examined.resemblances, np.maximum(2 * cluster.agreements(best) / BITS - 1, 0))
        links = {(min(pair), max(pair)) for pair in cluster.edges.tolist() if pair[0] != pair[1]}
        assert examined.density == pytest.approx(2 * len(links) / (n * (n - 1)))
        assert examined.core == largest_core(links)
        if action == "report" or not examined.unlike:
            assert examined.groups.tolist() == [0] * n
            assert examined.kept.tolist() == [cluster.members[best]]


def largest_core(links: set[tuple[int, int]]) -> int:
    """By definition: take away nodes of a degree under k until none is left."""
    k = 0
    while links:
        k += 1
        while True:
            ends = [end for link in links for end in link]
            low = {end for end in ends if ends.count(end) < k}
            if not low:
                break
            links = {link for link in links if low.isdisjoint(link)}
    return max(k - 1, 0)


def large(shape: str, n: int) -> Cluster:
    """`chain`: each document resembles its neighbours, not the far ones; `star`: nobody resembles the hub."""
    numbers = np.arange(n, dtype=np.uint32)
    rng = np.random.default_rng(7)
    ranks = rng.permutation(n)
    if shape == "star":
        edges = np.stack([np.full(n - 1, n // 2, dtype=np.uint32), np.delete(numbers, n // 2)], axis=1)
        return Cluster(numbers, ranks, edges, rng.integers(0, 256, (n, LARGE_BITS // 8), dtype=np.uint8))
    # Each differs from the one before in one bit.
    period = np.arange(2 * LARGE_BITS)[:, None] - np.arange(LARGE_BITS)
    sketches = np.packbits((period > 0) & (period <= LARGE_BITS), axis=1)[numbers % (2 * LARGE_BITS)]
    return Cluster(numbers, ranks, np.stack([numbers[:-1], numbers[1:]], axis=1), sketches)


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_a_million_documents(shape: str) -> None:
    n = 1_000_000
    cluster = large(shape, n)
    examined = cluster.examined()
    assert int(examined.sizes().sum()) == n
    assert examined.core == 1
    assert examined.density == pytest.approx(2 / n)
    leaders = np.searchsorted(cluster.members, examined.kept)[examined.groups]
    same = np.bitwise_count(~(cluster.sketches ^ cluster.sketches[leaders])).sum(axis=1)
    assert int(same.min()) >= least_agreement(RULES.resemblance, LARGE_BITS)
    if shape == "star":
        assert len(examined.kept) == n
        return
    # A chain's groups are runs of neighbours, of at most 64 on either side of the leader.
    assert (np.diff(np.flatnonzero(np.diff(examined.groups, prepend=-1))) <= 129).all()
    assert np.count_nonzero(np.diff(examined.groups)) == len(examined.kept) - 1


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_large_groups_grow_as_defined(shape: str) -> None:
    cluster = large(shape, 10_000)
    assert cluster.examined().groups.tolist() == examined_by_definition(cluster).groups.tolist()


def test_a_large_cluster_of_the_same_stays_whole() -> None:
    members = np.arange(50, dtype=np.uint64) + 2**33
    edges = np.stack([np.full(49, 2**33, dtype=np.uint64), members[1:]], axis=1)
    examined = examine(members, np.arange(50)[::-1], edges, np.ones((50, 8), dtype=np.uint8), RULES)
    assert examined.kept.tolist() == [2**33 + 49]
    assert examined.groups.tolist() == [0] * 50
    assert (examined.unlike, examined.core, float(examined.resemblances.min())) == (0, 1, 1.0)


def test_an_edge_to_a_stranger() -> None:
    members = np.array([3, 5], dtype=np.uint32)
    for stranger in (4, 6):
        with pytest.raises(ValueError, match="ends in a document that is not a member of the cluster"):
            examine(members, np.arange(2), np.array([[3, stranger]], dtype=np.uint32), np.ones((2, 8), np.uint8), RULES)


def test_the_number_of_threads_is_left_as_it_was() -> None:
    threads = networkit.getMaxNumberOfThreads()
    large("star", 10).examined()
    assert networkit.getMaxNumberOfThreads() == threads


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, BITS)), max_size=30), st.integers(1, 30))
def test_lowest_agreements_of_clusters(found: list[tuple[int, int]], block: int) -> None:
    kept = np.array([70, 10, 30, 90, 50], dtype=np.uint32)
    pairs = np.array([(kept[cluster], 100 + row) for row, (cluster, _) in enumerate(found)], np.uint32).reshape(-1, 2)
    agree = np.array([agreement for _, agreement in found], dtype=np.uint16)
    cuts = range(0, max(len(found), 1), block)
    blocks = [(pairs[cut : cut + block], agree[cut : cut + block]) for cut in cuts]
    expected = [min([agreement for c, agreement in found if c == cluster], default=BITS + 1) for cluster in range(5)]
    assert lowest_agreements(kept, blocks, BITS).tolist() == expected


def test_agreements_must_be_with_a_kept_document() -> None:
    pairs, agree = np.array([[11, 12]], dtype=np.uint32), np.array([3], dtype=np.uint16)
    for kept in ([10, 13], [10], []):
        with pytest.raises(ValueError, match="does not start with a kept document"):
            lowest_agreements(np.array(kept, dtype=np.uint32), [(pairs, agree)], BITS)


def test_suspects_are_too_large_or_hold_a_document_unlike_the_kept_one() -> None:
    least = least_agreement(RULES.resemblance, BITS)
    sizes = np.array([5, 6, 2, 2], dtype=np.uint32)
    lowest = np.array([BITS, BITS, least - 1, least], dtype=np.uint16)
    assert suspects(sizes, lowest, RULES, BITS).tolist() == [False, True, True, False]
    assert suspects(sizes, lowest, replace(RULES, action="report"), BITS).tolist() == [False, True, True, False]
    assert not suspects(sizes, lowest, replace(RULES, action="off"), BITS).any()


def test_at_no_resemblance_everything_resembles() -> None:
    """Estimates of unlike documents scatter around 0, and half of them are under it."""
    rules = GuardRules(max_cluster=5, resemblance=0.0)
    assert rules.least(1024) == 0
    assert not suspects(np.array([2]), np.array([480], dtype=np.uint16), rules, 1024).any()
