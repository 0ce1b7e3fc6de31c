from random import Random

import networkit
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from corpus_assets.dedup.clusters.union_find import UnionFind

N = 40
EDGES = st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=60)


def array(edges: list[tuple[int, int]]) -> NDArray[np.uint32]:
    return np.array(edges, dtype=np.uint32).reshape(-1, 2)


def table(forest: UnionFind, block: int = 1 << 20) -> NDArray[np.unsignedinteger]:
    """Rows of (member, root, size), checked to come in order and in blocks of the right length."""
    blocks = [np.stack(columns, axis=1) for columns in forest.clusters(block)]
    assert all(0 < len(rows) <= block for rows in blocks)
    found = np.concatenate([np.empty((0, 3), dtype=np.uint32), *blocks])
    assert (np.diff(found[:, 0].astype(np.int64)) > 0).all()
    return found


def clusters(n: int, *batches: NDArray[np.uint32], block: int = 7) -> dict[int, tuple[int, int]]:
    """Member -> (root, size)."""
    forest = UnionFind(n)
    for batch in batches:
        forest.add(batch)
    found = table(forest, block)
    assert found.dtype == np.uint32
    return {member: (root, size) for member, root, size in found.tolist()}


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


@pytest.mark.parametrize("shape", ["chain", "reversed chain", "shuffled chain", "star"])
def test_one_cluster_of_a_million(shape: str) -> None:
    n = 1_000_000
    nodes = np.arange(n, dtype=np.uint32)
    if shape == "shuffled chain":
        nodes = np.random.default_rng(3).permutation(nodes)
    edges = np.stack([nodes[:-1], nodes[1:]], axis=1)
    if shape == "reversed chain":
        edges = edges[::-1]
    if shape == "star":
        edges = np.stack([np.full_like(nodes[:-1], n - 1), nodes[:-1]], axis=1)
    forest = UnionFind(n)
    forest.add(edges)
    found = table(forest)
    assert np.array_equal(found[:, 0], np.arange(n))
    assert (int(found[:, 1].max()), int(found[:, 2].min()), int(found[:, 2].max())) == (0, n, n)


def test_a_large_random_graph() -> None:
    n = 300_000
    edges = np.random.default_rng(3).integers(0, n, (n // 2, 2), dtype=np.uint32)
    forest = UnionFind(n)
    forest.add(edges)
    found = table(forest, 1 << 16)
    matrix = sparse.coo_matrix((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    labels = csgraph.connected_components(matrix, directed=False)[1]
    first, sizes = np.unique(labels, return_index=True, return_counts=True)[1:]
    members = np.flatnonzero(sizes[labels] > 1)
    assert np.array_equal(found, np.stack([members, first[labels[members]], sizes[labels[members]]], axis=1))


@given(EDGES, st.lists(st.integers(0, N - 1)))
def test_root_of_any_document(edges: list[tuple[int, int]], documents: list[int]) -> None:
    forest = UnionFind(N)
    forest.add(array(edges))
    roots = forest.root_of(np.array(documents, dtype=np.uint64))
    found = clusters(N, array(edges))
    assert roots.tolist() == [found.get(document, (document, 1))[0] for document in documents]


def test_single_documents_and_self_pairs_are_no_clusters() -> None:
    assert clusters(0) == {}
    assert clusters(5) == {}
    assert clusters(5, array([(3, 3)])) == {}
    assert clusters(5, array([(4, 1), (1, 4)])) == {1: (1, 2), 4: (1, 2)}


def test_clusters_can_be_read_before_the_last_edge() -> None:
    forest = UnionFind(4)
    forest.add(array([(0, 1)]))
    assert table(forest).tolist() == [[0, 0, 2], [1, 0, 2]]
    forest.add(array([(1, 3)]))
    assert table(forest).tolist() == [[0, 0, 3], [1, 0, 3], [3, 0, 3]]


def test_edges_of_any_integer_type() -> None:
    for dtype in (np.uint8, np.int64, np.uint64):
        assert clusters(5, np.array([(4, 1)], dtype=dtype)) == {1: (1, 2), 4: (1, 2)}


@pytest.mark.parametrize("end", [5, 1 << 32, -1])
def test_an_edge_to_no_document(end: int) -> None:
    forest = UnionFind(5)
    with pytest.raises(ValueError, match=f"edge with document {end}; there are 5 documents"):
        forest.add(np.array([(0, 1), (0, end)], dtype=np.int64))
    assert table(forest).tolist() == []


def test_no_negative_number_of_documents() -> None:
    with pytest.raises(ValueError, match="-1 documents; valid: 0 or more"):
        UnionFind(-1)
