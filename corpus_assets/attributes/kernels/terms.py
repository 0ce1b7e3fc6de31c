"""Terms of an automaton in a text."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from resources.kernels.jit import ahead, inlined, kernel

_DOTTED_I, _I = 0x130, 0x69


@ahead(
    f"{CODES}, uint8[::1], Tuple((uint8[::1], uint16[:, ::1])), "
    "Tuple((uint8[::1], uint8[::1], uint16[::1], uint16[::1]))"
)
@kernel
def find_terms(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    moving: tuple[NDArray[np.uint8], NDArray[np.uint16]],
    marking: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint16]],
) -> int:
    """Returns the marks of all terms that the lower-case text holds.

    moving, marking: the arrays of `terms.Automaton`, classes and moves apart from the others.
    """
    classes, moves = moving
    anywhere, whole, lengths, shorter = marking
    marks = 0
    state = np.uint16(0)
    for place in range(codes.size):
        code = codes[place]
        if code == _DOTTED_I:  # Its lower case is an i and a combining dot, which no term has.
            marks |= anywhere[moves[state, classes[_I]]]
            state = np.uint16(0)
            continue
        state = moves[state, classes[code]]
        marks |= anywhere[state]
        if (whole[state] or shorter[state]) and _is_space(codes, flags, place + 1):
            term = state
            while term:
                if whole[term] and _is_space(codes, flags, place - lengths[term]):
                    marks |= whole[term]
                term = shorter[term]
    return marks


@inlined
def _is_space(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int) -> bool:
    """Returns whether a position is whitespace or outside the text."""
    return place < 0 or place >= codes.size or flags[codes[place]] & SPACE != 0
