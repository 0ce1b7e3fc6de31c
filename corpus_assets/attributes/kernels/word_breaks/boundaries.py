"""Unicode word boundaries (UAX #29, Unicode 16) as a state machine with one pass over the text."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from corpus_assets.attributes.kernels.word_breaks.classes import (
    ALETTER,
    CLASS,
    CR,
    DOUBLE_QUOTE,
    EXTEND,
    EXTEND_NUM_LET,
    HEBREW_LETTER,
    KATAKANA,
    LF,
    MID_LETTER,
    MID_NUM,
    MID_NUM_LET,
    NEWLINE,
    NUMERIC,
    PICTOGRAPHIC,
    REGIONAL_INDICATOR,
    SINGLE_QUOTE,
    SPACES,
    ZWJ,
)
from resources.kernels.jit import ahead, helper, inlined, kernel

_START = 30


@inlined
def _is_newline(kind: int) -> bool:
    return CR <= kind <= NEWLINE


@inlined
def _is_ignored(kind: int) -> bool:
    return EXTEND <= kind <= ZWJ


@inlined
def _is_letter(kind: int) -> bool:
    return (kind == HEBREW_LETTER) | (kind == ALETTER)


@inlined
def _joins_letters(kind: int) -> bool:
    return (kind == MID_LETTER) | (kind == MID_NUM_LET) | (kind == SINGLE_QUOTE)


@inlined
def _joins_numbers(kind: int) -> bool:
    return (kind == MID_NUM) | (kind == MID_NUM_LET) | (kind == SINGLE_QUOTE)


@helper
def _next_kind(codes: NDArray[np.uint32], classes: NDArray[np.uint8], place: int, end: int) -> int:
    """Returns the class of the next code point that counts."""
    place += 1
    while place < end and _is_ignored(classes[codes[place]] & CLASS):
        place += 1
    return classes[codes[place]] & CLASS if place < end else _START


@ahead(f"{CODES}, uint8[::1], uint8[::1], int64[::1], int64[::1]")
@kernel
def count_segments(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Returns for each part of the text the number of segments, and of those that are not only whitespace."""
    counts = np.zeros((starts.size, 2), dtype=np.int64)
    for part in range(starts.size):
        visible = False
        marks = _beginnings(codes, classes, starts[part], ends[part])
        for place in range(starts[part], ends[part]):
            if marks[place - starts[part]]:
                counts[part, 0] += 1
                visible = False
            if not visible and flags[codes[place]] & SPACE == 0:
                counts[part, 1] += 1
                visible = True
    return counts


@ahead(f"{CODES}, uint8[::1], uint8[::1], int64[::1], int64[::1]")
@kernel
def find_words(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    classes: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of the segments that are not only whitespace, and their number in each part."""
    size = 0
    for part in range(starts.size):
        size += ends[part] - starts[part]
    firsts, lasts = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    counts = np.zeros(starts.size, dtype=np.int64)
    found = 0
    for part in range(starts.size):
        marks = _beginnings(codes, classes, starts[part], ends[part])
        begin, visible = starts[part], False
        for place in range(starts[part], ends[part]):
            if marks[place - starts[part]]:
                if visible:
                    firsts[found], lasts[found] = begin, place
                    found += 1
                    counts[part] += 1
                begin, visible = place, False
            visible = visible or flags[codes[place]] & SPACE == 0
        if visible:
            firsts[found], lasts[found] = begin, ends[part]
            found += 1
            counts[part] += 1
    return firsts[:found].copy(), lasts[:found].copy(), counts


@helper
def _beginnings(codes: NDArray[np.uint32], classes: NDArray[np.uint8], start: int, end: int) -> NDArray[np.bool_]:
    """Returns for each place of a part of the text whether a segment begins there."""
    marks = np.empty(end - start, dtype=np.bool_)
    raw = before = earlier = _START
    paired = False
    for place in range(start, end):
        value = classes[codes[place]]
        kind = value & CLASS
        if kind == ALETTER and raw == ALETTER:  # A shortcut for most of the text; the rules below agree.
            marks[place - start] = False
            earlier = ALETTER
            continue
        if place == start:
            breaks = True
        elif SPACES in (raw, kind):
            breaks = raw != kind and not _is_ignored(kind)
        elif _is_newline(raw) or _is_newline(kind):
            breaks = not (raw == CR and kind == LF)
        elif (raw == ZWJ and value & PICTOGRAPHIC != 0) or _is_ignored(kind):
            breaks = False
        else:
            breaks = not _joined(codes, classes, (place, end), (earlier, before, kind))
        if kind == REGIONAL_INDICATOR:
            paired = before == REGIONAL_INDICATOR and not paired
            breaks = breaks and not paired
        marks[place - start] = breaks
        raw = kind
        if not _is_ignored(kind):
            earlier, before = before, kind
    return marks


@helper
def _joined(
    codes: NDArray[np.uint32], classes: NDArray[np.uint8], place_and_end: tuple[int, int], kinds: tuple[int, int, int]
) -> bool:
    """Rules WB5 to WB13b. kinds: of the code point before the last, the last, and this one, ignored ones left out."""
    place, end = place_and_end
    earlier, before, kind = kinds
    if _is_letter(before):
        if _is_letter(kind) or kind in (NUMERIC, EXTEND_NUM_LET):
            return True
        if before == HEBREW_LETTER and kind == SINGLE_QUOTE:
            return True
        if _joins_letters(kind):
            return _is_letter(_next_kind(codes, classes, place, end))
        if before == HEBREW_LETTER and kind == DOUBLE_QUOTE:
            return _next_kind(codes, classes, place, end) == HEBREW_LETTER
        return False
    if before == NUMERIC:
        if _is_letter(kind) or kind in (NUMERIC, EXTEND_NUM_LET):
            return True
        return _joins_numbers(kind) and _next_kind(codes, classes, place, end) == NUMERIC
    if _is_letter(kind):
        if before == DOUBLE_QUOTE:
            return earlier == HEBREW_LETTER and kind == HEBREW_LETTER
        return before == EXTEND_NUM_LET or (_joins_letters(before) and _is_letter(earlier))
    if kind == NUMERIC:
        return before == EXTEND_NUM_LET or (_joins_numbers(before) and earlier == NUMERIC)
    if kind == KATAKANA:
        return before in (KATAKANA, EXTEND_NUM_LET)
    return kind == EXTEND_NUM_LET and before in (KATAKANA, EXTEND_NUM_LET)
