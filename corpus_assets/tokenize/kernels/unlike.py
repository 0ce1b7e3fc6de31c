"""Finds characters of a few ranges in UTF-8, at several bytes per nanosecond if there are none."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import decoded
from resources.kernels.jit import ahead, inlined, kernel, read_only

BLOCK = 1 << 10
Bytes = NDArray[np.uint8]
Units = NDArray[np.uint16]


@ahead(f"{read_only('uint8')}, int64[::1], UniTuple(uint16[::1], 2), boolean[::1], boolean[::1]")
@kernel
def marked_texts(
    data: Bytes,
    offsets: NDArray[np.int64],
    openings: tuple[Units, Units],
    marked: NDArray[np.bool_],
    found: NDArray[np.bool_],
) -> None:
    """Sets `found` (n,) to True for the texts of valid UTF-8, `data` from `offsets` (n + 1), with a marked code point.

    openings: the first and the last of each range of first two bytes (big-endian) that marked code points have.
    marked: a flag for every code point.
    """
    units = np.empty(BLOCK, np.uint16)
    for text in range(len(found)):
        begin, stop = offsets[text], offsets[text + 1] - 1
        while begin < stop and not found[text]:
            end = min(begin + BLOCK, stop)
            if _has_opening(data[begin:end], data[begin + 1 : end + 1], openings, units[: end - begin]):
                found[text] = _holds(data, begin, end, marked)
            begin = end


@inlined
def _has_opening(block: Bytes, following: Bytes, openings: tuple[Units, Units], units: Units) -> bool:
    """Returns whether a byte and its following one are in a range; where its first byte is absent it costs little."""
    firsts, lasts = openings
    lead, present, joined = np.uint8(0), False, False
    for number in range(len(firsts)):
        first = firsts[number]
        if np.uint8(first >> 8) != lead:
            lead = np.uint8(first >> 8)
            present = _any_equal(block, lead)
        if not present:
            continue
        if not joined:
            _join(block, following, units)
            joined = True
        if _any_within(units, first, np.uint16(lasts[number] - first)):
            return True
    return False


@inlined
def _any_equal(block: Bytes, lead: np.uint8) -> bool:
    found = False
    for place in range(block.size):
        found |= block[place] == lead
    return found


@inlined
def _join(block: Bytes, following: Bytes, units: Units) -> None:
    for place in range(block.size):
        units[place] = np.uint16(block[place]) << np.uint16(8) | np.uint16(following[place])


@inlined
def _any_within(units: Units, first: np.uint16, span: np.uint16) -> bool:
    found: bool | np.bool_ = False
    for place in range(units.size):
        found |= np.uint16(units[place] - first) <= span
    return bool(found)


@inlined
def _holds(data: Bytes, begin: int, end: int, marked: NDArray[np.bool_]) -> bool:
    """Returns whether a character that begins in a block is marked."""
    for place in range(begin, end):
        if data[place] >= 0xC0:
            code, _ = decoded(data, place)
            if marked[code]:
                return True
    return False
