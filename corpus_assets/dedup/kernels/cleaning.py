"""Cleaning in one pass over UTF-8 bytes (the definition is resources/slimpajama_cleaning.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import decoded
from resources.jit import ahead, inlined, kernel

_SPACE = 32
_LAST_POINT = 0x10FFFF


@ahead("uint8[::1], int64[::1], uint32[::1]")
@kernel
def clean_in_place(text: NDArray[np.uint8], bounds: NDArray[np.int64], classes: NDArray[np.uint32]) -> None:
    """Cleans in place texts that lie one after the other in `text`, and updates `bounds` (texts + 1,).

    Lone surrogates are three bytes each. `classes` maps a code point to another of no more bytes, to 32 if it is
    whitespace, or to a number beyond Unicode if it is dropped. Code points past the table stay.
    """
    length = int(np.int64(0))  # not a literal, for which numba would compile a variant
    start = bounds[0]
    for number in range(bounds.size - 1):
        stop = bounds[number + 1]
        length = _clean(text, (start, stop), classes, length)
        start = stop
        bounds[number + 1] = length


@kernel
def _clean(text: NDArray[np.uint8], span: tuple[int, int], classes: NDArray[np.uint32], length: int) -> int:
    """Cleans text[span[0]:span[1]] into text[length:]; returns where it ends."""
    position, stop = span
    first = length
    after_space = True
    while position < stop:
        if text[position] < 0x80:
            value = classes[text[position]]
            position += 1
        else:
            point, position = decoded(text, position)
            value = classes[point] if point < classes.size else np.uint32(point)
            if 0x80 <= value <= _LAST_POINT:
                length = _encoded(int(value), text, length)
                after_space = False
                continue
        # No branches from here on: the processor cannot predict where spaces and punctuation come.
        is_kept = value <= _LAST_POINT
        is_space = value == _SPACE
        text[length] = value
        length += is_kept & ~(is_space & after_space)
        after_space = is_space | (after_space & ~is_kept)
    return length - int(length > first and text[length - 1] == _SPACE)


@inlined
def _encoded(point: int, text: NDArray[np.uint8], length: int) -> int:
    """Writes a code point beyond ASCII at `length` as UTF-8; returns where it ends."""
    if point < 0x800:
        text[length] = 0xC0 | point >> 6
        text[length + 1] = 0x80 | point & 0x3F
        return length + 2
    if point < 0x10000:
        text[length] = 0xE0 | point >> 12
        text[length + 1] = 0x80 | point >> 6 & 0x3F
        text[length + 2] = 0x80 | point & 0x3F
        return length + 3
    text[length] = 0xF0 | point >> 18
    text[length + 1] = 0x80 | point >> 12 & 0x3F
    text[length + 2] = 0x80 | point >> 6 & 0x3F
    text[length + 3] = 0x80 | point & 0x3F
    return length + 4
