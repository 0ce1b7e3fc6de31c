"""Signs of phone numbers and IP addresses, found in one pass: texts without them need no closer look."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from resources.kernels.jit import ahead, inlined, kernel

_ZERO, _NINE, _DOT, _COLON = 0x30, 0x39, 0x2E, 0x3A
_FEWEST_DIGITS, _MOST_BETWEEN, _MOST_HEX = 7, 5, 4


@ahead(CODES)
@kernel
def find_signs(codes: NDArray[np.uint32]) -> tuple[NDArray[np.int64], bool, bool]:
    """Returns where digits are near each other, whether dots are between numbers, and colons around hex digits.

    Near: `[0-9](?:[ .()\\-/\\xa0\\u2010-\\u2013]{0,5}[0-9]){6,}`, beginnings and ends (n, 2). Dots and colons:
    `\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]`, `:[0-9A-Fa-f]{0,4}:`.
    """
    near = np.empty((codes.size // _FEWEST_DIGITS + 1, 2), dtype=np.int64)
    found = place = 0
    dots = colons = False
    while place < codes.size:
        code = codes[place]
        if code < _DOT or code > _COLON:
            place += 1
        elif _is_digit(code):
            digits, end = _chain(codes, place)
            if digits >= _FEWEST_DIGITS:
                near[found, 0], near[found, 1] = place, end
                found += 1
            while place < end:  # Between the digits of a chain there may be dots, but no colons.
                dots = dots or (codes[place] == _DOT and _has_dots(codes, place))
                place += 1
        else:
            dots = dots or (code == _DOT and _has_dots(codes, place))
            colons = colons or (code == _COLON and _has_colons(codes, place))
            place += 1
    return near[:found], dots, colons


@inlined
def _is_digit(code: np.uint32) -> bool:
    return bool((code >= _ZERO) & (code <= _NINE))


@inlined
def _chain(codes: NDArray[np.uint32], start: int) -> tuple[int, int]:
    """Returns the number of digits that are near each other from a digit on, and the end of the last of them."""
    digits, end, place = 1, start + 1, start + 1
    while place < codes.size and place - end <= _MOST_BETWEEN:
        if _is_digit(codes[place]):
            digits += 1
            end = place + 1
        elif not _is_between(codes[place]):
            break
        place += 1
    return digits, end


@inlined
def _is_between(code: np.uint32) -> bool:
    ascii_one = (code == 0x20) | (code == _DOT) | (code == 0x28) | (code == 0x29) | (code == 0x2D) | (code == 0x2F)
    return bool(ascii_one | (code == 0xA0) | ((code >= 0x2010) & (code <= 0x2013)))


@inlined
def _has_dots(codes: NDArray[np.uint32], place: int) -> bool:
    """Returns whether two numbers of up to three digits and a digit follow a dot, with dots between them."""
    for _ in range(2):
        begin = place + 1
        place = begin
        while place < codes.size and place - begin < 3 and _is_digit(codes[place]):
            place += 1
        if place in (begin, codes.size) or codes[place] != _DOT:
            return False
    return place + 1 < codes.size and _is_digit(codes[place + 1])


@inlined
def _has_colons(codes: NDArray[np.uint32], place: int) -> bool:
    """Returns whether up to four hex digits and a colon follow a colon."""
    for each in range(place + 1, min(place + _MOST_HEX + 2, codes.size)):
        code = codes[each]
        if code == _COLON:
            return True
        if not (_is_digit(code) or 0x41 <= code <= 0x46 or 0x61 <= code <= 0x66):
            return False
    return False
