"""Single passes over the code points of a text in UTF-8 (lone surrogates as three bytes each)."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.cleaned_runs import after_spaces, classify
from resources.formats.kernels.utf8 import decoded
from resources.kernels.jit import ahead, helper, inlined, kernel, read_only
from resources.kernels.vectors import RUN, count_bits, first_bit, not_ascii, not_zero

DROPPED, KEPT, SPACE, DOUBLED, LOOK_UP = 0, 1, 2, 5, 8
"""Bits of a code point in cleaning: it is kept, is whitespace, or becomes two; LOOK_UP: see `cleaned_length`."""

UNSETTLED = 255

_NEAR = 16
"""Bytes of ASCII after which more are likely: in most scripts only spaces are."""

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
    kept, gaps, gap = U64(0), U64(0), U64(0)
    are_kept, spaces = np.empty(RUN, dtype=np.uint8), np.empty(RUN, dtype=np.uint8)
    position = 0
    while position < text.size:
        if position + RUN <= text.size and not not_ascii(text[position : position + RUN]):
            classify(text[position : position + RUN], are_kept, spaces)
            word = not_zero(are_kept)
            follow, gap = after_spaces(word, not_zero(spaces), gap)
            kept += count_bits(word)
            gaps += count_bits(word & follow)
            position += RUN
            continue
        end = min(position + RUN, text.size)
        while position < end:
            found = leads[text[position]]
            if found == LOOK_UP:
                found = _looked_up(text, position, points)
                kept += U64(found == DOUBLED)
            # Without branches, since the processor cannot predict spaces and punctuation.
            bits = U64(found)
            is_kept = bits & _ONE
            kept += is_kept
            gaps += gap & is_kept
            gap = (gap & ~is_kept) | ((bits & _TWO) >> _ONE)
            position += 1
    return int(kept + gaps - U64(kept > 0 and _begins_with_space(text, leads, points)))


@inlined
def _looked_up(text: NDArray[np.uint8], position: int, points: NDArray[np.uint8]) -> np.uint8:
    point, _ = decoded(text, position)
    return points[point] if point < points.size else np.uint8(KEPT)


@inlined
def _begins_with_space(text: NDArray[np.uint8], leads: NDArray[np.uint8], points: NDArray[np.uint8]) -> bool:
    """Returns whether whitespace comes before the first code point that is kept."""
    found = np.uint8(DROPPED)
    position = 0
    while position < text.size and found == DROPPED:
        found = leads[text[position]]
        if found == LOOK_UP:
            found = _looked_up(text, position, points)
        position += 1
    return bool(found == SPACE)


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
            if position - first == _NEAR:
                position = _past_runs(text, position)
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


@helper
def _past_runs(text: NDArray[np.uint8], position: int) -> int:
    """Returns the first place from one on where a byte is not ASCII, or the end of the last whole run before it."""
    while position + RUN <= text.size:
        others = not_ascii(text[position : position + RUN])
        if others:
            return position + int(first_bit(others))
        position += RUN
    return position
