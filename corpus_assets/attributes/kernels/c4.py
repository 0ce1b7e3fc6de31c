"""C4's rules for the lines of a text, and terms of an automaton in it, in one pass."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.encoding import begin, end_of, room_for, write_span
from corpus_assets.attributes.kernels.flags import CODES, SPACE
from resources.kernels.jit import ahead, helper, inlined, kernel

_NEWLINE = 10
_DOTTED_I, _I = 0x130, 0x69
_Arrays = tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16], NDArray[np.uint16]]


@ahead(
    f"{CODES}, uint8[::1], Tuple((uint32[::1], int64)), Tuple((uint8[::1], uint16[:, ::1])), "
    "Tuple((uint8[::1], uint8[::1], uint16[::1], uint16[::1]))"
)
@kernel
def measure_lines(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    rules: tuple[NDArray[np.uint32], int],
    moving: tuple[NDArray[np.uint8], NDArray[np.uint16]],
    marking: _Arrays,
) -> tuple[int, int, tuple[int, NDArray[np.uint8]], tuple[int, NDArray[np.uint8]]]:
    """Returns the marks of all terms in the lower-case text, and the number of lines; lines without ending, short ones.

    Of both kinds: their number, and spans with score 1 as `encode_spans` writes them. A line ends with its newline; one
    more line, possibly empty, follows the last newline. rules: the allowed last visible code points of a line, and the
    fewest words. moving, marking: the arrays of `terms.Automaton`, classes and moves apart from the others.
    """
    endings, fewest_words = rules
    classes, moves = moving
    anywhere, whole, _, shorter = marking
    lines = 1
    for code in codes:
        lines += code == _NEWLINE
    room = room_for(lines, codes.size, 1)
    unended, short = np.empty(room, dtype=np.uint8), np.empty(room, dtype=np.uint8)
    at_unended, at_short = begin(unended), begin(short)
    many_unended = many_short = marks = start = words = 0
    state, last, inside = np.uint16(0), np.uint32(0), False
    for place in range(codes.size + 1):
        code = codes[place] if place < codes.size else np.uint32(_NEWLINE)
        if code == _NEWLINE:
            end = min(place + 1, codes.size)
            if not _is_one_of(last, endings):
                many_unended += 1
                at_unended = write_span(unended, at_unended, start, end, 1)
            if words < fewest_words:
                many_short += 1
                at_short = write_span(short, at_short, start, end, 1)
            start, words, last = end, 0, np.uint32(0)
        space = flags[code] & SPACE != 0
        words += (not space) & (not inside)
        inside = not space
        last = last if space else code
        if code == _DOTTED_I:  # Its lower case is an i and a combining dot, which no term has.
            marks |= anywhere[moves[state, classes[_I]]]
            state = np.uint16(0)
            continue
        state = moves[state, classes[code]]
        marks |= anywhere[state]
        if (whole[state] or shorter[state]) and _is_space(codes, flags, place + 1):
            marks |= _whole_terms(codes, flags, (place, state), marking)
    return (
        marks,
        lines,
        (many_unended, unended[: end_of(unended, at_unended)]),
        (
            many_short,
            short[: end_of(short, at_short)],
        ),
    )


@helper
def _whole_terms(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], reached: tuple[int, int], marking: _Arrays
) -> int:
    """Returns the marks of the terms of whole words that end at a position. reached: the position, and the state."""
    _, whole, lengths, shorter = marking
    place, term = reached
    marks = 0
    while term:
        if whole[term] and _is_space(codes, flags, place - lengths[term]):
            marks |= whole[term]
        term = shorter[term]
    return marks


@inlined
def _is_one_of(code: np.uint32, endings: NDArray[np.uint32]) -> bool:
    found = False
    for ending in endings:
        found |= code == ending
    return found


@inlined
def _is_space(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int) -> bool:
    """Returns whether a position is whitespace or outside the text."""
    return place < 0 or place >= codes.size or flags[codes[place]] & SPACE != 0
