"""Cleaning in one pass over UTF-8 bytes (the definition is resources/documents/slimpajama_cleaning.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import decoded, encoded
from resources.kernels.jit import ahead, helper, kernel

BEYOND = 0xFFFFFFFE
"""Class of a code point whose lower case is not in the table."""

Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Concatenated texts, and the starts of each and the end of the last: (texts + 1,)."""

_SPACE = 32
_LAST_POINT = 0x10FFFF


@ahead("UniTuple(Tuple((uint8[::1], int64[::1])), 2), uint32[::1], bool_[::1]")
@kernel
def clean(texts: tuple[Texts, Texts], classes: NDArray[np.uint32], beyond: NDArray[np.bool_]) -> None:
    """Writes the cleaned form of the first texts into the second, which have the same room.

    Lone surrogates are three bytes each. `classes` maps a code point to another of no more bytes, to 32 if it is
    whitespace, to a number beyond Unicode if it is dropped. Code points past the table stay. `beyond` (texts,) tells
    afterwards which texts hold a code point of class BEYOND, which is dropped.
    """
    (text, bounds), (out, out_bounds) = texts
    length = int(np.int64(0))  # not a literal, for which numba would compile a variant
    out_bounds[0] = length
    for number in range(bounds.size - 1):
        length, beyond[number] = _clean(text, (bounds[number], bounds[number + 1]), classes, out, length)
        out_bounds[number + 1] = length


@helper
def _clean(
    text: NDArray[np.uint8], span: tuple[int, int], classes: NDArray[np.uint32], out: NDArray[np.uint8], length: int
) -> tuple[int, bool]:
    """Cleans text[span[0]:span[1]] into out[length:]; returns its end, and whether it holds one of class BEYOND."""
    position, stop = span
    first = length
    after_space = True
    has_beyond = False
    while position < stop:
        if text[position] < 0x80:
            value = classes[text[position]]
            position += 1
        else:
            point, position = decoded(text, position)
            value = classes[point] if point < classes.size else np.uint32(point)
            if 0x80 <= value <= _LAST_POINT:
                length = encoded(int(value), out, length)
                after_space = False
                continue
            has_beyond |= value == BEYOND
        # No branches from here on, since the processor cannot predict spaces and punctuation.
        is_kept = value <= _LAST_POINT
        is_space = value == _SPACE
        out[length] = value
        length += is_kept & ~(is_space & after_space)
        after_space = is_space | (after_space & ~is_kept)
    return length - int(length > first and out[length - 1] == _SPACE), has_beyond
