"""Finds the matches of the expression `(.+?)(\\s?\\1){3,}` in time n log n for a text of n code points."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from corpus_assets.attributes.kernels.repetitions.candidates import (
    GRAM,
    NEWLINE,
    RUN,
    SHORT,
    are_copied,
    mark_short,
    repeated_runs,
)
from corpus_assets.attributes.kernels.repetitions.equal import Hashed, unhashed
from corpus_assets.attributes.kernels.repetitions.units import (
    COPIES,
    Tables,
    has_copies,
    set_run,
    set_unit,
    tables,
    try_unit,
)
from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import ahead, helper, inlined, kernel
from resources.kernels.vectors import RUN as WIDTH
from resources.kernels.vectors import first_bit, not_zero

_BLOCK = 16
"""Positions that are examined together, since units are rare."""


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def find_repetitions(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of repetitions in parts of the text, and how often each repeats its unit."""
    text, found = unhashed(codes), tables(codes.size)
    units = found[0]
    found_starts, found_ends, found_times = [0][:0], [0][:0], [0][:0]
    for part in range(starts.size):
        place, stop = starts[part], ends[part]
        _find_units(text, flags, found, place, stop)
        while place < stop:
            place = _next_unit(units, place, stop)
            if place == stop:
                break
            end, times = _match(codes, flags, place, units[place], stop)
            found_starts.append(place)
            found_ends.append(end)
            found_times.append(times)
            place = end
    return np.array(found_starts, np.int64), np.array(found_ends, np.int64), np.array(found_times, np.int64)


@inlined
def _next_unit(units: NDArray[np.int32], place: int, stop: int) -> int:
    """Returns the first position at or after one where a unit begins; the end of the part of the text without any."""
    while place + _BLOCK <= stop:
        some = 0
        for each in range(_BLOCK):
            some |= units[place + each]
        if some:
            break
        place += _BLOCK
    while place < stop and units[place] == 0:
        place += 1
    return place


@helper
def _find_units(text: Hashed, flags: NDArray[np.uint8], found: Tables, start: int, stop: int) -> None:
    """Sets for each position of a part of the text the length of the shortest unit that begins there."""
    newlines = _find_short(text[0], flags, found, (start, stop))
    most = min(_longest(newlines, start, stop), (stop - start) // COPIES)
    if most >= GRAM:
        _find_long(text, flags, found, (start, newlines, stop), most)


@inlined
def _longest(newlines: NDArray[np.int32], start: int, stop: int) -> int:
    """Returns the length of the longest line of a part of the text."""
    line, longest = start, 0
    for newline in newlines:
        longest = max(longest, newline - line)
        line = newline + 1
    return max(longest, stop - line)


@helper
def _find_short(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], found: Tables, part: tuple[int, int]
) -> NDArray[np.int32]:
    """Sets units of up to SHORT code points; returns where the newlines of the part of the text are."""
    units, _, _ = found
    start, stop = part
    size = stop - start
    marks = np.empty(size + WIDTH, dtype=np.uint8)
    marks[size:] = 0
    newlines = np.empty(mark_short(codes[start:stop], marks[:size]), dtype=np.int32)
    lines, behind = 0, start
    for first in range(0, size, WIDTH):
        marked = not_zero(marks[first:])
        while marked:
            offset = first + int(first_bit(marked))
            marked &= marked - np.uint64(1)
            place, mark = start + offset, marks[offset]
            code = codes[place]
            if code == NEWLINE:
                newlines[lines] = place
                lines += 1
                continue
            if mark & RUN and place >= behind:
                behind = place + 1
                while behind < stop and codes[behind] == code:
                    behind += 1
                set_run(found, place, behind)
            if units[place] == 0:
                for length in range(1, SHORT + 1):
                    if mark >> (length - 1) & 1 and has_copies(codes, flags, place, length, stop):
                        set_unit(found, place, length)
                        break
    return newlines


@helper
def _find_long(
    text: Hashed, flags: NDArray[np.uint8], found: Tables, bounds: tuple[int, NDArray[np.int32], int], most: int
) -> None:
    """The same for units that are longer than short ones, up to a length."""
    codes = text[0]
    start, _, stop = bounds
    runs_of_one = found[2]
    distances = np.empty(stop - start, dtype=np.int32)
    runs = np.empty(((stop - start) // 2 + 1, 2), dtype=np.int32)
    left = repeated_runs(codes[start:stop], most, distances, runs)
    for length in range(GRAM, most + 1):
        step = length - GRAM + 1
        kept = 0
        for run in range(left):
            first, size = runs[run, 0], runs[run, 1]
            if size < step:
                continue
            runs[kept, 0], runs[kept, 1] = first, size
            kept += 1
            for offset in range(first + step - 1, first + size, step):
                if distances[offset] > length + 1 or not are_copied(distances, offset, length):
                    continue
                second = start + offset  # in the second copy, with or without whitespace before it
                for place in range(second - length, max(second - length - 2, start - 1), -1):
                    # Within a run the unit begins with four code points of it, so that its length is 1.
                    if runs_of_one[place] <= second and same(codes, place, second, GRAM):
                        try_unit(text, flags, found, bounds, (place, length))
        left = kept
        if left == 0:
            break


@helper
def _copy_end(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], unit: tuple[int, int, int], place: int, spaced: bool
) -> int:
    """Returns the end of a copy of the unit at a position, with or without whitespace before it; -1 if there is none.

    unit: its beginning, its length, and the end of the part of the text.
    """
    start, length, stop = unit
    if spaced:
        if place >= stop or flags[codes[place]] & SPACE == 0:
            return -1
        place += 1
    return place + length if place + length <= stop and same(codes, start, place, length) else -1


@helper
def _match(codes: NDArray[np.uint32], flags: NDArray[np.uint8], start: int, length: int, stop: int) -> tuple[int, int]:
    """Returns the end of the match with a unit, and how often the unit occurs in it.

    As in the expression, whitespace before a copy is skipped if that leads to three copies.
    """
    unit = (start, length, stop)
    end = start
    for bare in range(8):
        end = start + length
        for copy in range(3):
            end = _copy_end(codes, flags, unit, end, bare >> (2 - copy) & 1 == 0)
            if end < 0:
                break
        if end > 0:
            break
    times = COPIES
    while True:
        longer = _copy_end(codes, flags, unit, end, True)
        if longer < 0:
            longer = _copy_end(codes, flags, unit, end, False)
        if longer < 0:
            break
        end = longer
        times += 1
    if length == 1:  # Whitespace may be a copy or a gap.
        times = 0
        for place in range(start, end):
            times += codes[place] == codes[start]
    return end, times
