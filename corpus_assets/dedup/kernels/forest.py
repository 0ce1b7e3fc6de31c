"""Union-find, compiled: sets are trees in which a parent never has a larger number than its child.

So one ascending pass can flatten all trees, and the root is the smallest number.
"""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel


@ahead("uint32[::1], uint32[:, ::1]")
@kernel
def merge(parents: NDArray[np.unsignedinteger], edges: NDArray[np.unsignedinteger]) -> None:
    """Joins the sets of both ends of each edge (m, 2); the smaller root wins. Path halving (Tarjan 1984)."""
    for edge in range(edges.shape[0]):
        left, right = edges[edge, 0], edges[edge, 1]
        while parents[left] != left:
            parents[left] = parents[parents[left]]
            left = parents[left]
        while parents[right] != right:
            parents[right] = parents[parents[right]]
            right = parents[right]
        if left < right:
            parents[right] = left
        else:
            parents[left] = right


@ahead("uint32[::1], uint32[::1]")
@kernel
def flatten(parents: NDArray[np.unsignedinteger], sizes: NDArray[np.unsignedinteger]) -> None:
    """Makes the root the parent of every document, and counts the documents of each root in `sizes`, given as zeros."""
    for document in range(parents.size):
        # A parent has a smaller number, so its own parent is already the root.
        root = parents[parents[document]]
        parents[document] = root
        sizes[root] += 1
