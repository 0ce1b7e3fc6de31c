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
from resources.kernels.vectors import RUN, not_ascii

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
CHAINS = 4


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
        if not by_word:
            many = _ascii_windows(text, (start, end), min(stop - end, out.size - count))
            if many:
                state = _slide_ascii(text[start:], end - start, (state, weight), out[count : count + many])
                count += many
                start += many
                end += many
        # One by one, up to where it pays to look for ASCII again.
        for _ in range(RUN):
            if end > stop or count == out.size:
                break
            out[count] = state
            count += 1
            if end == stop:
                end += 1
            elif by_word or text[start] >= 0x80 or text[end] >= 0x80:
                state, start, end = _advance(text, (state, weight, start, end), stop, by_word)
            else:
                state = _next(text, state, weight, (U64(start), U64(end)))
                start += 1
                end += 1
    return count, (state, weight, start, end)


@inlined
def _ascii_windows(text: NDArray[np.uint8], span: tuple[int, int], most: int) -> int:
    """Returns how many windows from this one on are ASCII, and so is the byte after the last; 0 if they are few.

    A multiple of CHAINS, and at most `most`.
    """
    start, end = span
    if most < RUN:
        return 0
    position = start
    while position + RUN <= end + most and not not_ascii(text[position : position + RUN]):
        position += RUN
    return max(position - end, 0) // CHAINS * CHAINS


@helper
def _slide_ascii(text: NDArray[np.uint8], width: int, window: tuple[U64, U64], out: NDArray[U64]) -> U64:
    """Writes the polynomials of the windows that begin at the first bytes of ASCII; returns that of the one after them.

    Each follows from the one before, so as many chains of them as the processor multiplies at a time go side by side.
    window: the first polynomial, and the weight.
    """
    state, weight = window
    stretch, end = U64(out.size // CHAINS), U64(width)
    second, third, fourth = text[stretch:], text[2 * stretch :], text[3 * stretch :]
    states = state, _of_window(second, width), _of_window(third, width), _of_window(fourth, width)
    for i in range(stretch):
        out[i], out[i + stretch], out[i + 2 * stretch], out[i + 3 * stretch] = states
        states = (
            _next(text, states[0], weight, (i, i + end)),
            _next(second, states[1], weight, (i, i + end)),
            _next(third, states[2], weight, (i, i + end)),
            _next(fourth, states[3], weight, (i, i + end)),
        )
    return states[3]


@inlined
def _next(text: NDArray[np.uint8], state: U64, weight: U64, places: tuple[int | U64, int | U64]) -> U64:
    """Returns the polynomial after the first byte of a window has gone and the one at its end has come."""
    gone, come = places
    return state * _FACTOR + (U64(text[come]) - U64(text[gone]) * weight)


@inlined
def _of_window(text: NDArray[np.uint8], width: int) -> U64:
    state = U64(0)
    for i in range(width):
        state = state * _FACTOR + U64(text[i])
    return state


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
