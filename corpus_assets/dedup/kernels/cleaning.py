"""Cleaning in one pass over UTF-8 bytes (the definition is resources/documents/slimpajama_cleaning.py)."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.cleaned_runs import after_spaces, classify, lower
from resources.formats.kernels.utf8 import decoded, encoded
from resources.kernels.jit import ahead, helper, inlined, kernel
from resources.kernels.vectors import RUN, count_bits, first_bit, not_ascii, not_zero

BEYOND = 0xFFFFFFFE
"""Class of a code point whose lower case is not in the table."""

Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Concatenated texts, and the starts of each and the end of the last: (texts + 1,)."""

U64 = np.uint64
_ONE = U64(1)
_SPACE = 32
_LAST_POINT = 0x10FFFF


@ahead("UniTuple(Tuple((uint8[::1], int64[::1])), 2), uint32[::1], bool_[::1]")
@kernel
def clean(texts: tuple[Texts, Texts], classes: NDArray[np.uint32], beyond: NDArray[np.bool_]) -> None:
    """Writes the cleaned form of the first texts into the second, which have room for a run more.

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
    after_space = _ONE
    has_beyond = False
    are_kept, spaces = np.empty(RUN, dtype=np.uint8), np.empty(RUN, dtype=np.uint8)
    while position < stop:
        # `lower` reads a run from each byte of the run on.
        if position + RUN <= min(stop, text.size - RUN) and not not_ascii(text[position : position + RUN]):
            classify(text[position : position + RUN], are_kept, spaces)
            kept, gaps = not_zero(are_kept), not_zero(spaces)
            follow, after_space = after_spaces(kept, gaps, after_space)
            length = _write(text[position:], kept | (gaps & ~follow), out, length)
            position += RUN
            continue
        end = min(position + RUN, stop)
        while position < end:
            if text[position] < 0x80:
                value = classes[text[position]]
                position += 1
            else:
                point, position = decoded(text, position)
                value = classes[point] if point < classes.size else np.uint32(point)
                if 0x80 <= value <= _LAST_POINT:
                    length = encoded(int(value), out, length)
                    after_space = U64(0)
                    continue
                has_beyond |= value == BEYOND
            # No branches from here on, since the processor cannot predict spaces and punctuation.
            is_kept, is_space = U64(value <= _LAST_POINT), U64(value == _SPACE)
            out[length] = value
            length += int(is_kept & ~(is_space & after_space))
            after_space = is_space | (after_space & ~is_kept)
    return length - int(length > first and out[length - 1] == _SPACE), has_beyond


@inlined
def _write(text: NDArray[np.uint8], chosen: U64, out: NDArray[np.uint8], length: int) -> int:
    """Writes the chosen bytes of the run that a text begins with, in lower case; returns where they end."""
    end = length + int(count_bits(chosen))
    while chosen:
        start, place = int(first_bit(chosen)), end - int(count_bits(chosen))
        # A whole run, whose surplus is overwritten: most stretches of chosen bytes are short.
        lower(text[start : start + RUN], out[place : place + RUN])
        chosen &= chosen + (chosen & (~chosen + _ONE))
    return end
