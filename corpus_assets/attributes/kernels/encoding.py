"""Spans as they are in the JSON of a row: `[[start,end,score],...]`, with scores such as 1.0 and -3.0."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

_OPEN, _CLOSE, _COMMA, _MINUS, _DOT, _ZERO = 0x5B, 0x5D, 0x2C, 0x2D, 0x2E, 0x30
_MARKS = 8
"""Bytes of a span beside those of its numbers: brackets, commas, and the sign and the end of the score."""


@ahead("int64[::1], int64[::1], int64[::1]")
@kernel
def encode_spans(starts: NDArray[np.int64], ends: NDArray[np.int64], scores: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Returns the JSON of spans whose scores are whole numbers."""
    last = score = 0
    for span in range(starts.size):
        last, score = max(last, starts[span], ends[span]), max(score, abs(scores[span]))
    encoded = np.empty(room_for(starts.size, last, score), dtype=np.uint8)
    at = begin(encoded)
    for span in range(starts.size):
        at = write_span(encoded, at, starts[span], ends[span], scores[span])
    return encoded[: end_of(encoded, at)]


@inlined
def room_for(spans: int, last: int, score: int) -> int:
    """Returns the most bytes of so many spans that end at `last` or before it, with scores up to one."""
    return spans * (2 * _digits(last) + _digits(score) + _MARKS) + 2


@inlined
def begin(encoded: NDArray[np.uint8]) -> int:
    """Writes the beginning of all spans; returns the place behind it."""
    encoded[0] = _OPEN
    return 1


@inlined
def write_span(encoded: NDArray[np.uint8], at: int, start: int, end: int, score: int) -> int:
    """Writes a span, and a comma; returns the place behind it."""
    encoded[at] = _OPEN
    at = _write(encoded, at + 1, start)
    encoded[at] = _COMMA
    at = _write(encoded, at + 1, end)
    encoded[at] = _COMMA
    at += 1
    if score < 0:
        encoded[at] = _MINUS
        at += 1
    at = _write(encoded, at, abs(score))
    encoded[at], encoded[at + 1], encoded[at + 2], encoded[at + 3] = _DOT, _ZERO, _CLOSE, _COMMA
    return at + 4


@inlined
def end_of(encoded: NDArray[np.uint8], at: int) -> int:
    """Writes the end of all spans, in place of the last comma; returns the place behind it."""
    at = max(at - 1, 1)
    encoded[at] = _CLOSE
    return at + 1


@inlined
def _digits(number: int) -> int:
    count = 1
    while number >= 10:
        number //= 10
        count += 1
    return count


@inlined
def _write(encoded: NDArray[np.uint8], at: int, number: int) -> int:
    """Writes a number in decimal; returns the place behind it."""
    end = at + _digits(number)
    for place in range(end - 1, at - 1, -1):
        encoded[place] = _ZERO + number % 10
        number //= 10
    return end
