"""Finds the matches of the expression `(.+?)(\\s?\\1){3,}` in time n log n for a line of n code points.

`re` tries every unit at every position, which takes quadratic time and more. Here units are tried by length: a unit of
L code points covers exactly one multiple of L. So it is enough to compare n / L positions with those at distance L or
L + 1, and to extend equal stretches in both directions (Main and Lorentz 1984). Hashes of prefixes measure equal
stretches; these are compared code point by code point before they count, so that a collision changes no result.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import ahead, helper, inlined, kernel

_NEWLINE = 10
_BASE = np.uint64(0x9E3779B97F4A7C15)
_COPIES = 4
_PLAIN = 32
"""Code points that are compared one by one before hashes are, since most stretches differ early.

A power of two, so that steps can be halved down to 1.
"""
_Hashed = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]
"""Code points, hashes of all prefixes, and powers of the base."""


@inlined
def _equal(text: _Hashed, one: int, other: int, length: int) -> bool:
    """Returns whether two stretches have equal hashes, so that they are equal except for collisions."""
    hashes, powers = text[1], text[2]
    first = hashes[one + length] - hashes[one] * powers[length]
    return bool(first == hashes[other + length] - hashes[other] * powers[length])


@helper
def _equal_ahead(text: _Hashed, one: int, other: int, most: int) -> int:
    """Returns how many code points are equal from two positions on, at most `most`."""
    codes = text[0]
    length = 0
    while length < most and length < _PLAIN:
        if codes[one + length] != codes[other + length]:
            return length
        length += 1
    step = _PLAIN
    while length + step <= most and _equal(text, one + length, other + length, step):
        length += step
        step *= 2
    while step:
        if length + step <= most and _equal(text, one + length, other + length, step):
            length += step
        step //= 2
    return length


@helper
def _equal_behind(text: _Hashed, one: int, other: int, most: int) -> int:
    """Returns how many code points are equal before two positions, at most `most`."""
    codes = text[0]
    length = 0
    while length < most and length < _PLAIN:
        if codes[one - 1 - length] != codes[other - 1 - length]:
            return length
        length += 1
    step = _PLAIN
    while length + step <= most and _equal(text, one - length - step, other - length - step, step):
        length += step
        step *= 2
    while step:
        if length + step <= most and _equal(text, one - length - step, other - length - step, step):
            length += step
        step //= 2
    return length


@helper
def _free(following: NDArray[np.int32], place: int) -> int:
    """Returns the first position at or after one that begins no unit yet.

    Paths are shortened on the way, as in union-find; otherwise a long repetition would be walked once per unit length.
    """
    root = place
    while following[root] != root:
        root = following[root]
    while following[place] != root:
        following[place], place = root, following[place]
    return root


@inlined
def _prefix_hashes(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    hashes = np.zeros(codes.size + 1, dtype=np.uint64)
    powers = np.ones(codes.size + 1, dtype=np.uint64)
    for place in range(codes.size):
        hashes[place + 1] = hashes[place] * _BASE + np.uint64(codes[place]) + np.uint64(1)
        powers[place + 1] = powers[place] * _BASE
    return hashes, powers


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def find_repetitions(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns beginnings and ends of repetitions in parts of the text, and how often each repeats its unit."""
    hashes, powers = _prefix_hashes(codes)
    text = (codes, hashes, powers)
    units = np.zeros(codes.size, dtype=np.int32)
    following = np.arange(codes.size + 1).astype(np.int32)
    runs = np.empty(codes.size, dtype=np.int32)
    found_starts, found_ends, found_times = [0][:0], [0][:0], [0][:0]
    for part in range(starts.size):
        line, stop = starts[part], ends[part]
        while line < stop:
            line_end = line
            while line_end < stop and codes[line_end] != _NEWLINE:
                line_end += 1
            _find_units(text, flags, (units, following, runs), (line, line_end, stop))
            line = line_end + 1
        place = starts[part]
        while place < stop:
            if units[place] == 0:
                place += 1
                continue
            end, times = _match(codes, flags, place, units[place], stop)
            found_starts.append(place)
            found_ends.append(end)
            found_times.append(times)
            place = end
    return np.array(found_starts, np.int64), np.array(found_ends, np.int64), np.array(found_times, np.int64)


@helper
def _find_units(
    text: _Hashed,
    flags: NDArray[np.uint8],
    tables: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    bounds: tuple[int, int, int],
) -> None:
    """Sets for each position of a line the length of the shortest unit that begins there and has three more copies.

    tables: units, following, and room for the end of the run of equal code points at each position. bounds: the line,
    and the part of the text. Only the first copy must lie in the line.
    """
    codes = text[0]
    units, following, runs = tables
    line, line_end, stop = bounds
    for place in range(line_end - 1, line - 1, -1):
        goes_on = place + 1 < line_end and codes[place] == codes[place + 1]
        runs[place] = runs[place + 1] if goes_on else place + 1
        if runs[place] - place >= _COPIES:
            units[place] = 1
            following[place] = place + 1
    for length in range(1, min(line_end - line, (stop - line) // _COPIES) + 1):
        latest = min(line_end - length, stop - _COPIES * length)
        for place in range(line, min(line_end, latest + length), length):
            code = codes[place]
            if code != codes[place + length] and code != codes[place + length + 1]:
                continue
            # Then the unit begins with four code points of the run, whose unit has length 1.
            if length > 1 and runs[place] > place + length + 1:
                continue
            if place + 3 * length >= line_end and not _may_cross(codes, place, length, line_end, stop):
                continue
            if place + 3 * length + 3 < stop and not _may_be_copied(codes, place, length):
                continue
            first, last = max(line, place - length + 1), min(place, latest)
            if _free(following, first) <= last:
                _try_gaps(text, flags, units, following, (place, length, first, last, stop))


@inlined
def _may_be_copied(codes: NDArray[np.uint32], place: int, length: int) -> bool:
    """Returns whether the third and the fourth copy, with or without gaps, may hold the code point at a position.

    A cheap test that rejects nearly all positions before stretches are compared.
    """
    code, third, fourth = codes[place], place + 2 * length, place + 3 * length
    if code != codes[third] and code != codes[third + 1] and code != codes[third + 2]:
        return False
    return code in (codes[fourth], codes[fourth + 1], codes[fourth + 2], codes[fourth + 3])


@inlined
def _may_cross(codes: NDArray[np.uint32], place: int, length: int, line_end: int, stop: int) -> bool:
    """Returns whether a unit that covers a position may have copies after the newline, which is then a gap."""
    following = line_end + 1
    if following + length > stop:
        return False
    for copies in range(1, _COPIES):
        for gaps in range(copies):
            start = line_end - copies * length - gaps
            if start <= place < start + length:
                last = codes[start + length - 1] == codes[following + length - 1]
                if last and codes[start] == codes[following] and codes[place] == codes[following + place - start]:
                    return True
    return False


@inlined
def _distances(length: int, gaps: int) -> tuple[int, int, int]:
    """Returns the distances of three copies from their unit. gaps: a bit for each copy with whitespace before it."""
    second = length + (gaps & 1)
    third = second + length + (gaps >> 1 & 1)
    return second, third, third + length + (gaps >> 2)


@helper
def _try_gaps(
    text: _Hashed,
    flags: NDArray[np.uint8],
    units: NDArray[np.int32],
    following: NDArray[np.int32],
    where: tuple[int, int, int, int, int],
) -> None:
    """Tries copies with and without whitespace between them.

    where: the position that the first copy covers, its length, its first and last possible beginning, end of the part.
    """
    codes = text[0]
    place, length, first, last, stop = where
    code = codes[place]
    for gaps in range(8):
        second, third, fourth = _distances(length, gaps)
        latest = min(last, stop - fourth - length)
        if latest < first or code != codes[place + second]:
            continue
        if code != codes[place + third] or code != codes[place + fourth]:
            continue
        behind, ahead = place - first, latest + length - place
        for distance in (second, third, fourth):
            if behind + ahead < length:
                break
            behind = _equal_behind(text, place, place + distance, behind)
            ahead = _equal_ahead(text, place, place + distance, ahead)
        if behind + ahead >= length:
            start, end = place - behind, place + ahead
            _set_units(codes, flags, units, following, (start, end, length, gaps))


@helper
def _set_units(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    units: NDArray[np.int32],
    following: NDArray[np.int32],
    where: tuple[int, int, int, int],
) -> None:
    """Sets the unit of each position that begins one and has none yet.

    where: the stretch that equals three others, the length of the unit, and the gaps between the copies.
    """
    start, end, length, gaps = where
    second, third, fourth = _distances(length, gaps)
    compared = False
    place = _free(following, start)
    while place <= end - length:
        spaced = gaps & 1 == 0 or flags[codes[place + length]] & SPACE != 0
        spaced &= gaps & 2 == 0 or flags[codes[place + second + length]] & SPACE != 0
        spaced &= gaps & 4 == 0 or flags[codes[place + third + length]] & SPACE != 0
        if spaced:
            if not compared:
                for distance in (second, third, fourth):
                    if not same(codes, place, place + distance, end - place):
                        return
                compared = True
            units[place] = length
            following[place] = place + 1
        place = _free(following, place + 1)


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
    times = _COPIES
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
