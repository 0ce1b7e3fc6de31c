"""The shortest unit that begins at each position of a text and has three more copies.

`re` tries every unit at every position, which takes quadratic time and more. Here candidates.py says which positions
the first copy of a unit of a length may cover. Equal stretches are extended from there in both directions (Main and
Lorentz 1984). Hashes of prefixes measure them; they are compared code point by code point before they count, so that a
collision changes no result.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import SPACE
from corpus_assets.attributes.kernels.repetitions.candidates import NEWLINE
from corpus_assets.attributes.kernels.repetitions.equal import Hashed, equal_ahead, equal_behind
from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import helper, inlined

COPIES = 4
Tables = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""For each position: the length of its unit, the next position that begins none yet or one before it, and the end of
the run of equal code points, 0 unless it is four or longer from there on.
"""


@inlined
def tables(size: int) -> Tables:
    """Returns the tables of a text without units."""
    return np.zeros(size, np.int32), np.arange(size + 1).astype(np.int32), np.zeros(size, np.int32)


@helper
def set_run(tables: Tables, start: int, end: int) -> None:
    """Sets the unit of the positions of a run of equal code points that three of them follow."""
    units, following, runs = tables
    for place in range(start, end - COPIES + 1):
        units[place] = 1
        following[place] = place + 1
        runs[place] = end


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
def _first_from(places: NDArray[np.int32], place: int) -> int:
    """Returns the number of the first of ascending places that is not before one."""
    low, high = 0, places.size
    while low < high:
        middle = (low + high) // 2
        if places[middle] < place:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def set_unit(tables: Tables, place: int, length: int) -> None:
    """Sets the unit of a position."""
    tables[0][place] = length
    tables[1][place] = place + 1


@helper
def has_copies(codes: NDArray[np.uint32], flags: NDArray[np.uint8], place: int, length: int, stop: int) -> bool:
    """Returns whether a unit of a length, without a newline, begins at a position and has three more copies.

    For short units, as it compares all of them.
    """
    for each in range(place, min(place + length, stop)):
        if codes[each] == NEWLINE:
            return False
    gaps = 1  # A bit for each number of gaps that may be before the next copy.
    for copy in range(1, COPIES):
        begin, after = place + copy * length, 0
        for gap in range(copy):
            if gaps >> gap & 1 == 0:
                continue
            if begin + gap + length <= stop and same(codes, place, begin + gap, length):
                after |= 1 << gap
            spaced = begin + gap + 1 + length <= stop and flags[codes[begin + gap]] & SPACE != 0
            if spaced and same(codes, place, begin + gap + 1, length):
                after |= 2 << gap
        gaps = after
        if not gaps:
            return False
    return True


@helper
def try_unit(
    text: Hashed,
    flags: NDArray[np.uint8],
    tables: Tables,
    bounds: tuple[int, NDArray[np.int32], int],
    where: tuple[int, int],
) -> None:
    """Sets the units of a length whose first copy covers a position.

    bounds: beginning of the part of the text, its newlines and its end. Only the first copy must lie in a line. where:
    the position, and the length.
    """
    units, following, _ = tables
    start, newlines, stop = bounds
    place, length = where
    number = _first_from(newlines, place)
    line = newlines[number - 1] + 1 if number else start
    line_end = newlines[number] if number < newlines.size else stop
    latest = min(line_end - length, stop - COPIES * length)
    first, last = max(line, place - length + 1), min(place, latest)
    if place < min(line_end, latest + length) and _free(following, first) <= last:
        _try_gaps(text, flags, units, following, (place, length, first, last, stop))


@inlined
def _distances(length: int, gaps: int) -> tuple[int, int, int]:
    """Returns the distances of three copies from their unit. gaps: a bit for each copy with whitespace before it."""
    second = length + (gaps & 1)
    third = second + length + (gaps >> 1 & 1)
    return second, third, third + length + (gaps >> 2)


@helper
def _try_gaps(
    text: Hashed,
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
            behind = equal_behind(text, place, place + distance, behind)
            ahead = equal_ahead(text, place, place + distance, ahead)
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
