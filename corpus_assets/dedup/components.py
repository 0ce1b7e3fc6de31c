"""Clusters of duplicates: connected components of the pair graph, by union-find over document numbers."""

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 18


class UnionFind:
    """Disjoint sets over documents 0 to n - 1, merged edge by edge; the root of a set is its smallest number.

    Holds 4 bytes per document. The clusters depend only on the set of edges, not on their order or on how
    they come in batches. Method: hooking to the smaller root with path halving (Shiloach and Vishkin 1982;
    Tarjan 1984), a batch of edges at a time.
    """

    def __init__(self, n: int) -> None:
        if not 0 <= n < 1 << 32:
            raise ValueError(f"{n} documents; valid: 0 to 2^32 - 1")
        self._parent: NDArray[np.uint32] = np.arange(n, dtype=np.uint32)

    def add(self, edges: NDArray[np.unsignedinteger]) -> None:
        """Merge the two ends of each edge, shape (m, 2). `ValueError` if an end is no document number."""
        if len(edges) and int(edges.max()) >= len(self._parent):
            raise ValueError(f"edge with document {int(edges.max())}; there are {len(self._parent)} documents")
        for start in range(0, len(edges), _BLOCK):
            block = edges[start : start + _BLOCK]
            self._merge(block[:, 0], block[:, 1])

    def clusters(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """The documents in clusters of two or more, as three arrays of equal length.

        `members` ascending, `kept` the smallest number of each member's cluster, `size` the documents in it.
        Memory on top of the sets grows with the number of members, not of documents.
        """
        absorbed, kept = self._absorbed()
        roots, counts = np.unique(kept, return_counts=True)
        members = np.concatenate([roots, absorbed])
        order = np.argsort(members)
        kept = np.concatenate([roots, kept])[order]
        return members[order], kept, (counts[np.searchsorted(roots, kept)] + 1).astype(np.uint32)

    def _absorbed(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Documents that are not the root of their set, ascending, and their roots."""
        members = [np.empty(0, dtype=np.uint32)]
        kept = [np.empty(0, dtype=np.uint32)]
        for start in range(0, len(self._parent), _BLOCK):
            # Reading only the block's parents first skips the walk for the many documents that are their own
            # root.
            parents = self._parent[start : start + _BLOCK]
            documents = np.arange(start, start + len(parents), dtype=np.uint32)
            hooked = documents[parents != documents]
            members.append(hooked)
            kept.append(self._roots(hooked))
        return np.concatenate(members), np.concatenate(kept)

    def _merge(self, left: NDArray[np.unsignedinteger], right: NDArray[np.unsignedinteger]) -> None:
        while len(left):
            left, right = self._roots(left), self._roots(right)
            apart = left != right
            left, right = left[apart], right[apart]
            np.minimum.at(self._parent, np.maximum(left, right), np.minimum(left, right))

    def _roots(self, documents: NDArray[np.unsignedinteger]) -> NDArray[np.uint32]:
        """Root of each document; halves the paths it walks."""
        while True:
            parents: NDArray[np.uint32] = self._parent[documents]
            grandparents = self._parent[parents]
            if np.array_equal(parents, grandparents):
                return parents
            self._parent[documents] = grandparents
            documents = parents
