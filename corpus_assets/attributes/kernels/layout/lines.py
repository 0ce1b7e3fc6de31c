"""Lines, paragraphs and signs of a text, as the filters of datatrove count them, in one call."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from corpus_assets.attributes.kernels.ngrams import number_stretches
from resources.kernels.jit import ahead, helper, inlined, kernel

SYMBOL, TERMINAL = 1, 2
"""Bits of the table of marks: code points of words without letters, and those that may end a line."""
_NEWLINE, _RETURN, _DOT, _ELLIPSIS, _HASH, _DASH, _BULLET = 10, 13, 0x2E, 0x2026, 0x23, 0x2D, 0x2022
_SHORT = 30
COUNTS = 17


@ahead(f"{CODES}, uint8[::1], uint8[::1]")
@kernel
def measure_layout(codes: NDArray[np.uint32], flags: NDArray[np.uint8], marks: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Returns counts (17,).

    0 to 2: paragraphs, repeated ones, their code points. 3 to 5: the same of lines between runs of newlines. 6 to 8:
    the same of lines that are not blank. 9, 10: of these, those with a terminal mark at their end, and those of 30 code
    points or fewer. 11: newlines. 12 to 14: lines of `str.splitlines`, those that begin with a bullet, those that end
    with an ellipsis. 15, 16: hash signs, ellipses. Repeated means: equal to one before.
    """
    counts = np.zeros(COUNTS, dtype=np.int64)
    first, last = 0, codes.size
    while first < last and flags[codes[first]] & SPACE:
        first += 1
    while last > first and flags[codes[last - 1]] & SPACE:
        last -= 1
    starts, ends = _split_at_newlines(codes, (first, last), 2)
    counts[0], counts[1], counts[2] = _repeated(codes, starts, ends)
    starts, ends = _split_at_newlines(codes, (0, codes.size), 1)
    counts[3], counts[4], counts[5] = _repeated(codes, starts, ends)
    _count_full_lines(codes, flags, marks, counts)
    _count_signs(codes, counts)
    _count_all_lines(codes, flags, counts)
    return counts


@helper
def _split_at_newlines(
    codes: NDArray[np.uint32], bounds: tuple[int, int], least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of the parts between runs of at least some newlines."""
    start, last = bounds
    most = 1
    for place in range(start, last):
        most += codes[place] == _NEWLINE
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    place, parts = start, 0
    while place < last:
        stop = place
        while stop < last and codes[stop] == _NEWLINE:
            stop += 1
        if stop - place >= least:
            starts[parts], ends[parts] = start, place
            parts, start = parts + 1, stop
        place = max(stop, place + 1)
    starts[parts], ends[parts] = start, last
    return starts[: parts + 1], ends[: parts + 1]


@helper
def _repeated(codes: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[int, int, int]:
    """Returns the number of stretches, of those that are equal to one before, and the code points of these."""
    _, counts, firsts = number_stretches(codes, starts.astype(np.int32), ends.astype(np.int32))
    letters = 0
    for number in range(counts.size):
        letters += (counts[number] - 1) * (ends[firsts[number]] - starts[firsts[number]])
    return starts.size, starts.size - counts.size, letters


@helper
def _count_full_lines(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], marks: NDArray[np.uint8], counts: NDArray[np.int64]
) -> None:
    most = 1
    for code in codes:
        most += code == _NEWLINE
    starts, ends = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    lines = start = 0
    blank = True
    for place in range(codes.size + 1):
        if place < codes.size and codes[place] != _NEWLINE:
            blank &= flags[codes[place]] & SPACE != 0
            continue
        if not blank:
            starts[lines], ends[lines] = start, place
            lines += 1
            counts[9] += marks[codes[place - 1]] & TERMINAL != 0
            counts[10] += place - start <= _SHORT
        start, blank = place + 1, True
    counts[6], counts[7], counts[8] = _repeated(codes, starts[:lines], ends[:lines])
    counts[11] = most - 1


@helper
def _count_signs(codes: NDArray[np.uint32], counts: NDArray[np.int64]) -> None:
    place = 0
    while place < codes.size:
        counts[15] += codes[place] == _HASH
        counts[16] += codes[place] == _ELLIPSIS
        if _dots(codes, place + 3):
            counts[16] += 1
            place += 2
        place += 1


@inlined
def _dots(codes: NDArray[np.uint32], end: int) -> bool:
    """Returns whether three dots end at a position."""
    return 3 <= end <= codes.size and codes[end - 1] == _DOT and codes[end - 2] == _DOT and codes[end - 3] == _DOT


@helper
def _count_all_lines(codes: NDArray[np.uint32], flags: NDArray[np.uint8], counts: NDArray[np.int64]) -> None:
    start = place = 0
    while place < codes.size:
        if _ends_line(codes[place]):
            _count_line(codes, flags, (start, place), counts)
            place += codes[place] == _RETURN and place + 1 < codes.size and codes[place + 1] == _NEWLINE
            start = place + 1
        place += 1
    if start < codes.size:
        _count_line(codes, flags, (start, codes.size), counts)


@inlined
def _ends_line(code: np.uint32) -> bool:
    is_control = (10 <= code <= 13) | (28 <= code <= 30) | (code == 0x85)
    return bool(is_control | (code == 0x2028) | (code == 0x2029))


@helper
def _count_line(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], bounds: tuple[int, int], counts: NDArray[np.int64]
) -> None:
    first, last = bounds
    while first < last and flags[codes[first]] & SPACE:
        first += 1
    while last > first and flags[codes[last - 1]] & SPACE:
        last -= 1
    counts[12] += 1
    if first < last:
        counts[13] += codes[first] == _BULLET or codes[first] == _DASH
        counts[14] += codes[last - 1] == _ELLIPSIS or (last - first >= 3 and _dots(codes, last))
