"""Clusters of duplicates: connected components of the pair graph, by union-find over document numbers."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.documents.numbering import Documents, Edges, document_dtype

_BLOCK = 1 << 18
_ROOTS = 1 << 20


class UnionFind:
    """Disjoint sets over documents 0 to n - 1, merged edge by edge; the root of a set is its smallest number.

    Holds 4 bytes per document (8 from 2^32 documents on), twice that while clusters are read. The clusters depend only
    on the set of edges, not on their order or batches. Method: hooking to the smaller root with path halving (Tarjan
    1984).
    """

    def __init__(self, n: int) -> None:
        if n < 0:
            raise ValueError(f"{n} documents; valid: 0 or more")
        self._parents: Documents = np.arange(n, dtype=document_dtype(n))

    @property
    def total(self) -> int:
        """Number of documents."""
        return len(self._parents)

    def add(self, edges: Edges) -> None:
        """Merges the two ends of each edge, shape (m, 2). `ValueError` if an end is not a document number."""
        from corpus_assets.dedup.kernels.forest import merge

        for start in range(0, len(edges), _BLOCK):
            block = edges[start : start + _BLOCK]
            for end in (int(block.min()), int(block.max())):
                if not 0 <= end < len(self._parents):
                    raise ValueError(f"edge with document {end}; there are {len(self._parents)} documents")
            merge(self._parents, np.ascontiguousarray(block, dtype=self._parents.dtype))

    def root_of(self, documents: Documents) -> Documents:
        """Returns the smallest document of each document's cluster; the document itself if it is in none."""
        return self._roots(np.asarray(documents, dtype=self._parents.dtype))

    def clusters(self, block: int = 1 << 20) -> Iterator[tuple[Documents, Documents, Documents]]:
        """Yields the documents in clusters of two or more, as three arrays of equal length, 1 to `block`.

        `members` ascending through all blocks, `roots` the smallest number of each member's cluster, `sizes` the
        documents in it. Edges must not be added while the blocks are read.
        """
        sizes = self._flatten()
        for start in range(0, len(self._parents), block):
            roots = self._parents[start : start + block]
            sizes_here = sizes[roots]
            rows = np.flatnonzero(sizes_here > 1)
            if len(rows):
                members = (rows.astype(np.uint64) + np.uint64(start)).astype(roots.dtype)
                yield members, roots[rows], sizes_here[rows]

    def all_roots(self, alone: int) -> Documents:
        """Returns the root of every document, shape (n,); `alone` for those whose cluster is they themselves.

        The array is the one that the sets lie in: neither may edges be added afterwards, nor sets be asked for.
        """
        sizes = self._flatten()
        for start in range(0, len(self._parents), _ROOTS):
            roots, own = self._parents[start : start + _ROOTS], sizes[start : start + _ROOTS]
            # Only roots have a size.
            roots[own == 1] = alone
        return self._parents

    def _roots(self, documents: Documents) -> Documents:
        """Returns the root of each document; halves the paths it walks."""
        while True:
            parents = self._parents[documents]
            grandparents = self._parents[parents]
            if np.array_equal(parents, grandparents):
                return parents
            self._parents[documents] = grandparents
            documents = parents

    def _flatten(self) -> Documents:
        """Makes the root the parent of every document; returns the documents per root, 0 for other documents."""
        from corpus_assets.dedup.kernels.forest import flatten

        sizes = np.zeros_like(self._parents)
        flatten(self._parents, sizes)
        return sizes
