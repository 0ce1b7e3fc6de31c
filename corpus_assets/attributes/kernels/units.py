"""Words, lines and paragraphs of a text, as arrays of their beginnings and ends."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from resources.kernels.jit import ahead, inlined, kernel
from resources.kernels.vectors import RUN, first_bit, not_zero

_NEWLINE = 10
_ONE, _LAST = np.uint64(1), np.uint64(63)
Places = NDArray[np.int32] | NDArray[np.int64]


@ahead(f"{CODES}, uint8[::1]")
@kernel
def split_words(codes: NDArray[np.uint32], flags: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of the words of `str.split()`."""
    starts = np.empty(codes.size // 2 + 1, dtype=np.int64)
    ends = np.empty(codes.size // 2 + 1, dtype=np.int64)
    count = fill_words(codes, flags, starts, ends)
    return starts[:count], ends[:count]


@inlined
def fill_words(codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: Places, ends: Places) -> int:
    """Writes beginnings and ends of the words of `str.split()`; returns how many there are.

    starts, ends: with room for half as many as code points, and one.
    """
    spaces = np.empty(RUN, dtype=np.uint8)
    opened = closed = 0
    after_space = _ONE
    for place in range(0, codes.size, RUN):
        size = min(RUN, codes.size - place)
        for i in range(size):
            spaces[i] = flags[codes[place + i]] & SPACE
        spaces[size:] = SPACE
        # A run at a time, because the processor cannot predict where words begin and end.
        found = not_zero(spaces)
        follow = (found << _ONE) | after_space
        begins, stops = follow & ~found, found & ~follow
        while begins:
            starts[opened] = place + int(first_bit(begins))
            opened += 1
            begins &= begins - _ONE
        while stops:
            ends[closed] = place + int(first_bit(stops))
            closed += 1
            stops &= stops - _ONE
        after_space = found >> _LAST
    if closed < opened:
        ends[closed] = codes.size
    return opened


@ahead(f"{CODES}, uint8[::1]")
@kernel
def split_paragraphs(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Returns beginnings and ends of paragraphs, newline included, and whether each is blank."""
    count = 0
    for place in range(codes.size):
        count += codes[place] == _NEWLINE
    if codes.size and codes[codes.size - 1] != _NEWLINE:
        count += 1
    starts = np.empty(count, dtype=np.int64)
    ends = np.empty(count, dtype=np.int64)
    blank = np.empty(count, dtype=np.bool_)
    number = start = 0
    visible = False
    for place in range(codes.size):
        visible |= flags[codes[place]] & SPACE == 0
        if codes[place] == _NEWLINE or place + 1 == codes.size:
            starts[number], blank[number] = start, not visible
            ends[number] = start = place + 1
            number += 1
            visible = False
    return starts, ends, blank


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def strip_parts(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the bounds of `str.strip()` of each part of the text."""
    first, last = starts.copy(), ends.copy()
    for part in range(starts.size):
        while first[part] < last[part] and flags[codes[first[part]]] & SPACE:
            first[part] += 1
        while last[part] > first[part] and flags[codes[last[part] - 1]] & SPACE:
            last[part] -= 1
    return first, last
