"""Leader growth over the graph of one cluster (corpus_assets/dedup/clusters/guard.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.compare import agreeing_bits
from resources.kernels.jit import ahead, kernel


@ahead("int64[::1], UniTuple(int64[::1], 2), uint64[:, ::1], int64, boolean")
@kernel
def grow(
    order: NDArray[np.int64],
    links: tuple[NDArray[np.int64], NDArray[np.int64]],
    sketches: NDArray[np.uint64],
    least: int,
    paired: bool,
) -> NDArray[np.int64]:
    """Returns the group of each node, shape (n,), numbered in the order of their leaders.

    `order` are the nodes, best first; `links` are (starts, neighbours): those of node i are from `starts[i]` to
    `starts[i + 1]`. A node joins a leader when `least` bits or more of their sketches (n, words) agree or, if `paired`,
    when it is a neighbour of the leader.
    """
    starts, neighbours = links
    groups = np.full(order.size, -1, np.int64)
    refused_by = np.full(order.size, -1, np.int64)
    queue = np.empty(order.size, np.int64)
    group = 0
    for leader in order:
        if groups[leader] >= 0:
            continue
        groups[leader] = group
        queue[0] = leader
        head, tail = 0, 1
        while head < tail:
            node = queue[head]
            head += 1
            for position in range(starts[node], starts[node + 1]):
                other = neighbours[position]
                if groups[other] >= 0 or refused_by[other] == group:
                    continue
                if not (paired and node == leader) and agreeing_bits(sketches[leader], sketches[other]) < least:
                    refused_by[other] = group
                    continue
                groups[other] = group
                queue[tail] = other
                tail += 1
        group += 1
    return groups
