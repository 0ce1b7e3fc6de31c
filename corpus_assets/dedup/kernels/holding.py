"""Which documents are kept when some stand within others (corpus_assets/dedup/containment/settle.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, helper, kernel

Numbers = NDArray[np.int64]


@ahead("int64[::1], int64[::1], boolean[::1], int64[::1]")
@kernel
def keep(starts: Numbers, takes: Numbers, strict: NDArray[np.bool_], leaders: Numbers) -> None:
    """Writes for each document (n,) the one that is kept in its place, itself if it is kept.

    Documents are numbered from the best to the worst. Those that may go for document i are `takes[starts[i]]` to
    `takes[starts[i + 1]]`; `strict` says which of them i holds and is not held by. The best document that no undecided
    one strictly holds is kept, and all that may go for it go; until all are decided.
    """
    count = leaders.size
    holders = np.zeros(count, dtype=np.int64)
    for edge in range(takes.size):
        holders[takes[edge]] += strict[edge]
    heap = np.empty(count, dtype=np.int64)
    size = int(np.int64(0))  # not a literal, for which numba would compile a variant
    leaders[:] = -1
    for document in range(count):
        if holders[document] == 0:
            size = push(heap, size, document)
    decided = np.empty(count, dtype=np.int64)
    while size > 0:
        best = heap[0]
        size = pop(heap, size)
        if leaders[best] >= 0:
            continue
        leaders[best] = best
        decided[0] = best
        found = 1
        for edge in range(starts[best], starts[best + 1]):
            if leaders[takes[edge]] < 0:
                leaders[takes[edge]] = best
                decided[found] = takes[edge]
                found += 1
        for place in range(found):
            for edge in range(starts[decided[place]], starts[decided[place] + 1]):
                other = takes[edge]
                if strict[edge]:
                    holders[other] -= 1
                    if holders[other] == 0 and leaders[other] < 0:
                        size = push(heap, size, other)


@helper
def push(heap: Numbers, size: int, value: int) -> int:
    """Adds a value to a heap whose least is the first; returns its new size."""
    place = size
    while place > 0 and heap[(place - 1) // 2] > value:
        heap[place] = heap[(place - 1) // 2]
        place = (place - 1) // 2
    heap[place] = value
    return size + 1


@helper
def pop(heap: Numbers, size: int) -> int:
    """Takes the least value off a heap; returns its new size."""
    size -= 1
    value = heap[size]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value
    return size
