"""Bins of sequences: nearest previous fit and best fit decreasing, compiled (definitions: bins.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

I64 = np.int64
U64 = np.uint64
Array = NDArray[np.int64]

_ALL = U64(0xFFFFFFFFFFFFFFFF)
_ONE = U64(1)


@ahead("int64[::1], int64")
@kernel
def nearest_previous(lengths: Array, capacity: int) -> tuple[Array, Array]:
    """Returns the members and bounds of the bins. A tree of minima finds the rightmost bin that is light enough."""
    count = lengths.size
    leaves = 1
    while leaves < count:
        leaves *= 2
    never = capacity + 1
    lightest = np.full(2 * leaves, never, I64)
    loads = np.empty(count, I64)
    last = np.empty(count, I64)
    for sequence in range(count):
        lightest[leaves + sequence] = loads[sequence] = lengths[sequence]
        last[sequence] = sequence
    for node in range(leaves - 1, 0, -1):
        lightest[node] = min(lightest[2 * node], lightest[2 * node + 1])
    following = np.full(count, -1, I64)
    survives = np.ones(count, np.bool_)
    survivors = count
    for visited in range(count - 1, 0, -1):
        _set(lightest, leaves + visited, never)
        room = capacity - loads[visited]
        if lightest[1] <= room:
            node = 1
            while node < leaves:
                node = 2 * node + 1 if lightest[2 * node + 1] <= room else 2 * node
            target = node - leaves
            loads[target] += loads[visited]
            _set(lightest, node, loads[target])
            following[last[target]] = visited
            last[target] = last[visited]
            survives[visited] = False
            survivors -= 1
    return _walk(following, survives, survivors)


@inlined
def _set(lightest: Array, node: int, load: int) -> None:
    """Change a leaf, and its ancestors as far as that changes them."""
    lightest[node] = load
    node //= 2
    while node > 0:
        lighter = min(lightest[2 * node], lightest[2 * node + 1])
        if lighter == lightest[node]:
            break
        lightest[node] = lighter
        node //= 2


@inlined
def _walk(following: Array, survives: NDArray[np.bool_], survivors: int) -> tuple[Array, Array]:
    """Returns the chains of the surviving bins, one after another."""
    members = np.empty(following.size, I64)
    bounds = np.zeros(survivors + 1, I64)
    bin_, slot = 0, 0
    for first in range(following.size):
        if survives[first]:
            member = first
            while member >= 0:
                members[slot] = member
                slot += 1
                member = following[member]
            bin_ += 1
            bounds[bin_] = slot
    return members, bounds


@ahead("int64[::1], int64")
@kernel
def longest_first(lengths: Array, longest: int) -> Array:
    """Returns the numbers of the sequences from long to short, equal ones as they came: a counting sort."""
    places = np.zeros(longest + 2, I64)
    for length in lengths:
        places[length] += 1
    for length in range(longest - 1, -1, -1):
        places[length] += places[length + 1]
    order = np.empty(lengths.size, I64)
    for sequence in range(lengths.size):
        # Longer sequences come first, so their count is the next place of a length.
        order[places[lengths[sequence] + 1]] = sequence
        places[lengths[sequence] + 1] += 1
    return order


@ahead("int64[::1], int64[::1], int64, int64")
@kernel
def best_fit(lengths: Array, order: Array, capacity: int, depth: int) -> tuple[Array, int]:
    """Returns the bin of every sequence, visited in `order`, and the number of bins.

    Open bins are stacks by room; a bitmap says which of them hold any, so that the tightest fit is a bit scan.
    """
    top = np.full(capacity + 1, -1, I64)
    below = np.empty(lengths.size, I64)
    members = np.zeros(lengths.size, I64)
    bins = np.empty(lengths.size, I64)
    used = np.zeros(capacity // 64 + 1, U64)
    opened = 0
    for sequence in order:
        length = lengths[sequence]
        room = _tightest(used, length)
        if room < 0:
            chosen, room = opened, capacity
            opened += 1
        else:
            chosen = top[room]
            top[room] = below[chosen]
            if top[room] < 0:
                used[room // 64] &= ~(_ONE << U64(room % 64))
        bins[sequence] = chosen
        members[chosen] += 1
        room -= length
        if room > 0 and members[chosen] < depth:
            below[chosen] = top[room]
            top[room] = chosen
            used[room // 64] |= _ONE << U64(room % 64)
    return bins, opened


@inlined
def _tightest(used: NDArray[U64], length: int) -> int:
    """Returns the smallest room of `length` or more that an open bin has, -1 if none has."""
    word = length // 64
    found = used[word] & (_ALL << U64(length % 64))
    while found == 0:
        word += 1
        if word == used.size:
            return -1
        found = used[word]
    position = 64 * word
    for step in (32, 16, 8, 4, 2, 1):
        if found & ((_ONE << U64(step)) - _ONE) == 0:
            found >>= U64(step)
            position += step
    return position


@ahead("int64[::1], int64")
@kernel
def in_input_order(bins: Array, count: int) -> tuple[Array, Array]:
    """Returns the members and bounds of `count` bins: bins by their smallest member, members as they came."""
    ranks = np.full(count, -1, I64)
    bounds = np.zeros(count + 1, I64)
    seen = 0
    for bin_ in bins:
        if ranks[bin_] < 0:
            ranks[bin_] = seen
            seen += 1
        bounds[ranks[bin_] + 1] += 1
    for rank in range(count):
        bounds[rank + 1] += bounds[rank]
    slots = np.empty(count, I64)
    for rank in range(count):
        slots[rank] = bounds[rank]
    members = np.empty(bins.size, I64)
    for sequence in range(bins.size):
        rank = ranks[bins[sequence]]
        members[slots[rank]] = sequence
        slots[rank] += 1
    return members, bounds
