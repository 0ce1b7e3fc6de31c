from random import Random

import networkit
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from corpus_assets.dedup.components import UnionFind

N = 40
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=60)


def array(edges: list[tuple[int, int]]) -> NDArray[np.uint32]:
    return np.array(edges, dtype=np.uint32).reshape(-1, 2)


def clusters(n: int, *batches: NDArray[np.uint32]) -> dict[int, tuple[int, int]]:
    """Member -> (kept, size)."""
    forest = UnionFind(n)
    for batch in batches:
        forest.add(batch)
    members, kept, size = forest.clusters()
    assert members.dtype == kept.dtype == size.dtype == np.uint32
    assert (np.diff(members.astype(np.int64)) > 0).all()
    return dict(zip(members.tolist(), zip(kept.tolist(), size.tolist(), strict=True), strict=True))


def expected(groups: list[list[int]]) -> dict[int, tuple[int, int]]:
    return {m: (min(group), len(group)) for group in groups if len(group) > 1 for m in group}


def by_networkit(n: int, edges: NDArray[np.uint32]) -> dict[int, tuple[int, int]]:
    graph = networkit.Graph(n)
    for left, right in edges.tolist():
        graph.addEdge(left, right)
    components = networkit.components.ConnectedComponents(graph)
    components.run()
    return expected(components.getComponents())


def by_scipy(n: int, edges: NDArray[np.uint32]) -> dict[int, tuple[int, int]]:
    sparse = pytest.importorskip("scipy.sparse")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    matrix = sparse.coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    labels = csgraph.connected_components(matrix, directed=False)[1]
    return expected([np.flatnonzero(labels == label).tolist() for label in range(labels.max() + 1)])


@given(EDGES)
def test_equals_networkit_and_scipy(edges: list[tuple[int, int]]) -> None:
    found = clusters(N, array(edges))
    assert found == by_networkit(N, array(edges))
    assert found == by_scipy(N, array(edges))


@given(EDGES, st.randoms(use_true_random=False), st.integers(0, 60))
def test_order_and_batches_of_edges_do_not_matter(edges: list[tuple[int, int]], random: Random, cut: int) -> None:
    shuffled = list(edges)
    random.shuffle(shuffled)
    swapped = array(shuffled)[:, ::-1]
    assert clusters(N, swapped[:cut], swapped[cut:]) == clusters(N, array(edges))


@pytest.mark.parametrize("shape", ["chain", "reversed chain", "shuffled chain", "star", "random"])
def test_large_graphs(shape: str) -> None:
    n = 300_000
    rng = np.random.default_rng(3)
    nodes = np.arange(n, dtype=np.uint32)
    if shape == "shuffled chain":
        nodes = rng.permutation(nodes)
    edges = np.stack([nodes[:-1], nodes[1:]], axis=1)
    if shape == "reversed chain":
        edges = edges[::-1]
    if shape == "star":
        edges = np.stack([np.full_like(nodes[:-1], n - 1), nodes[:-1]], axis=1)
    if shape == "random":
        edges = rng.integers(0, n, (n, 2), dtype=np.uint32)
    forest = UnionFind(n)
    forest.add(edges)
    members, kept, size = forest.clusters()
    if shape != "random":
        assert (len(members), int(kept.max()), int(size.min())) == (n, 0, n)
        return
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    labels = sparse.csgraph.connected_components(matrix, directed=False)[1]
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    assert members.tolist() == np.flatnonzero(sizes[labels] > 1).tolist()
    assert kept.tolist() == first[labels[members]].tolist()
    assert size.tolist() == sizes[labels[members]].tolist()


def test_single_documents_and_self_pairs_are_no_clusters() -> None:
    assert clusters(0) == {}
    assert clusters(5) == {}
    assert clusters(5, array([(3, 3)])) == {}
    assert clusters(5, array([(4, 1), (1, 4)])) == {1: (1, 2), 4: (1, 2)}


def test_clusters_can_be_read_before_the_last_edge() -> None:
    forest = UnionFind(4)
    forest.add(array([(0, 1)]))
    assert forest.clusters()[0].tolist() == [0, 1]
    forest.add(array([(1, 3)]))
    assert forest.clusters()[0].tolist() == [0, 1, 3]


def test_an_edge_to_no_document() -> None:
    with pytest.raises(ValueError, match="edge with document 5; there are 5 documents"):
        UnionFind(5).add(array([(0, 5)]))
    with pytest.raises(ValueError, match="valid: 0 to"):
        UnionFind(1 << 32)
