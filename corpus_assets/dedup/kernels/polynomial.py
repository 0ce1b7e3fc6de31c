"""64-bit polynomial hashes of shingles, as windows slide over cleaned text.

The polynomial of units u[0..width) is the sum of u[i] * MULTIPLIER^(width-1-i) modulo 2^64. A code point counts as
its UTF-8 bytes read as a big-endian number; a word as mix64 of the same polynomial over its bytes plus one. The hash
of a shingle is mix64(polynomial ^ salt).
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import MIX, MULTIPLIER
from corpus_assets.dedup.kernels.windows import unit_end
from resources.kernels.jit import ahead, helper, inlined, kernel

U64 = np.uint64
Window = tuple[U64, U64, int, int]
"""Polynomial of a window, MULTIPLIER to the power of its width, its first byte and one past its last.

After the last window of a text, the end is one past that of the text.
"""

_FACTOR = U64(MULTIPLIER)
_MIX = U64(MIX)
_HALF = U64(32)
_BYTE = U64(8)
_ONE = U64(1)


@inlined
def mix64(value: U64) -> U64:
    """The compiled form of `one_permutation.mix64`."""
    value = (value ^ (value >> _HALF)) * _MIX
    value = (value ^ (value >> _HALF)) * _MIX
    return value ^ (value >> _HALF)


@inlined
def _value(text: NDArray[np.uint8], start: int, end: int, by_word: int) -> U64:
    """Returns the number that stands for a unit."""
    value = U64(0)
    if by_word:
        for position in range(start, end):
            value = value * _FACTOR + U64(text[position]) + _ONE
        return mix64(value)
    for position in range(start, end):
        value = value << _BYTE | U64(text[position])
    return value


@helper
def begin(text: NDArray[np.uint8], start: int, stop: int, by_word: int, width: int) -> Window:
    """Returns the first window of `width` units of text[start:stop]."""
    state, weight = U64(0), _ONE
    end = start - by_word
    for _ in range(width):
        first = end + by_word
        if first >= stop:
            return state, weight, start, stop + 1
        end = unit_end(text, first, stop, by_word)
        state = state * _FACTOR + _value(text, first, end, by_word)
        weight *= _FACTOR
    return state, weight, start, end


@helper
def slide(text: NDArray[np.uint8], stop: int, by_word: int, window: Window, out: NDArray[U64]) -> tuple[int, Window]:
    """Writes the polynomials of this and the next windows until `out` is full or the text ends at `stop`.

    Returns their number, and the window to continue with.
    """
    state, weight, start, end = window
    count = 0
    while end <= stop and count < out.size:
        out[count] = state
        count += 1
        if end == stop:
            end += 1
        elif by_word or text[start] >= 0x80 or text[end] >= 0x80:
            state, start, end = _advance(text, (state, weight, start, end), stop, by_word)
        else:
            state = state * _FACTOR + (U64(text[end]) - U64(text[start]) * weight)
            start += 1
            end += 1
    return count, (state, weight, start, end)


@inlined
def _advance(text: NDArray[np.uint8], window: Window, stop: int, by_word: int) -> tuple[U64, int, int]:
    state, weight, start, end = window
    gone = unit_end(text, start, stop, by_word)
    come = unit_end(text, end + by_word, stop, by_word)
    difference = _value(text, end + by_word, come, by_word) - _value(text, start, gone, by_word) * weight
    return state * _FACTOR + difference, gone + by_word, come


@helper
def mix(values: NDArray[U64], count: int, salt: U64) -> None:
    """Replaces the first values by mix64(value ^ salt)."""
    for i in range(count):
        values[i] = mix64(values[i] ^ salt)


@ahead("uint8[::1], int64, int64, uint64, uint64[::1]")
@kernel
def hash_windows(text: NDArray[np.uint8], by_word: int, width: int, salt: U64, out: NDArray[U64]) -> None:
    """Fills `out` (windows,) with the hashes of all windows of `width` units, in order."""
    slide(text, text.size, by_word, begin(text, int(np.int64(0)), text.size, by_word, width), out)
    mix(out, out.size, salt)
