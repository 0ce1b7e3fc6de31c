"""First fit with a limited number of open packs, compiled (definition: first_fit.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

I64 = np.int64
Array = NDArray[np.int64]

NUMBER, ROOM, MEMBERS = 0, 1, 2
OPEN, STARTED = 0, 1


@ahead("int64[::1], int64, int64, int64[:, ::1], int64[::1]")
@kernel
def place(lengths: Array, capacity: int, depth: int, packs: Array, state: Array) -> Array:
    """Returns the pack of every sequence, in order.

    packs (3, most that may be open): number, room and members of the open packs, the oldest first. state: how many are
    open, and how many were started. Both go on to the next call.
    """
    found = np.empty(lengths.size, I64)
    for sequence in range(lengths.size):
        length = lengths[sequence]
        at = 0
        while at < state[OPEN] and packs[ROOM, at] < length:
            at += 1
        if at == state[OPEN]:
            if at == packs.shape[1]:
                _close(packs, state, 0)
                at -= 1
            packs[NUMBER, at] = state[STARTED]
            packs[ROOM, at] = capacity
            packs[MEMBERS, at] = 0
            state[OPEN] += 1
            state[STARTED] += 1
        found[sequence] = packs[NUMBER, at]
        packs[ROOM, at] -= length
        packs[MEMBERS, at] += 1
        if packs[ROOM, at] == 0 or packs[MEMBERS, at] == depth:
            _close(packs, state, at)
    return found


@inlined
def _close(packs: Array, state: Array, at: int) -> None:
    for later in range(at, state[OPEN] - 1):
        for row in range(packs.shape[0]):
            packs[row, later] = packs[row, later + 1]
    state[OPEN] -= 1
