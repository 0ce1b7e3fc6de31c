"""Single passes over the code points of a text in UTF-8 (lone surrogates as three bytes each)."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import decoded
from resources.kernels.jit import ahead, kernel, read_only

DROPPED, KEPT, SPACE, DOUBLED, LOOK_UP = 0, 1, 2, 5, 8
"""Bits of a code point in cleaning: it is kept, is whitespace, or becomes two; LOOK_UP: see `cleaned_length`."""

UNSETTLED = 255

U64 = np.uint64
_ONE = U64(1)
_TWO = U64(2)


@ahead(f"{read_only('uint8')}, uint8[::1], uint8[::1]")
@kernel
def cleaned_length(text: NDArray[np.uint8], leads: NDArray[np.uint8], points: NDArray[np.uint8]) -> int:
    """Returns the number of code points of the cleaned form of a text.

    `leads` has the bits of a code point by its first byte, or LOOK_UP if `points` has them by code point; those past
    `points` are kept. Other bytes count like dropped ones.
    """
    kept, gaps, in_gap = U64(0), U64(0), U64(0)
    for position in range(text.size):
        found = leads[text[position]]
        if found == LOOK_UP:
            point, _ = decoded(text, position)
            found = points[point] if point < points.size else np.uint8(KEPT)
            kept += U64(found == DOUBLED)
        # Without branches, since the processor cannot predict spaces and punctuation.
        bits = U64(found)
        is_kept = bits & _ONE
        kept += is_kept
        gaps += in_gap & is_kept
        in_gap = ((in_gap & ~is_kept) | ((bits & _TWO) >> _ONE)) & U64(kept > 0)
    return int(kept + gaps)


@ahead(f"{read_only('uint8')}, uint8[::1], int64[:, ::1]")
@kernel
def unsettled(text: NDArray[np.uint8], classes: NDArray[np.uint8], spans: NDArray[np.int64]) -> int:
    """Writes spans (n, 2) of code points in which a text may not be in a normalization form.

    They ascend and do not touch. Returns how many there are, or -1 if they do not fit. Each starts at a starter and
    ends before one, so that it can be normalized by itself. `classes` has the combining class of a code point, or 255
    if the form may change it; code points past the table are starters that stay. Rule: Unicode Standard Annex 15,
    "Detecting Normalization Forms".
    """
    last = np.uint8(0)
    position, index, starter, found = 0, 0, 0, 0
    is_open = False
    while position < text.size:
        first = position
        while position < text.size and text[position] < 0x80:
            position += 1
        run = position - first
        class_ = np.uint8(0)
        if run == 0:
            run = 1
            point, position = decoded(text, position)
            if point < classes.size:
                class_ = classes[point]
        if class_ == 0:
            if is_open:
                spans[found, 1] = index
                found += 1
                is_open = False
            # Only the last character of a run of ASCII may combine with what follows.
            starter = index + run - 1
        elif not is_open and (class_ == UNSETTLED or last > class_):
            if found == spans.shape[0]:
                return -1
            is_open = True
            if found and spans[found - 1, 1] == starter:
                found -= 1
            else:
                spans[found, 0] = starter
        last = class_
        index += run
    if is_open:
        spans[found, 1] = index
        found += 1
    return found
