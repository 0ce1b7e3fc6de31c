"""Spans as they are in the JSON of a row."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

_OPEN, _CLOSE, _COMMA, _MINUS, _DOT, _ZERO = 0x5B, 0x5D, 0x2C, 0x2D, 0x2E, 0x30
_MARKS = 8
"""Bytes of a span beside those of its numbers: brackets, commas, and the end of the score."""


@ahead("int64[::1], int64[::1], int64[::1]")
@kernel
def encode_spans(starts: NDArray[np.int64], ends: NDArray[np.int64], scores: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Returns `[[start,end,score],...]` with scores as floats, such as `[[0,12,1.0],[12,40,-3.0]]`."""
    last = score = 0
    for span in range(starts.size):
        last, score = max(last, ends[span]), max(score, abs(scores[span]))
    room = starts.size * (2 * _digits(last) + _digits(score) + _MARKS) + 2
    encoded = np.empty(room, dtype=np.uint8)
    encoded[0] = _OPEN
    at = 1
    for span in range(starts.size):
        if span:
            encoded[at] = _COMMA
            at += 1
        encoded[at] = _OPEN
        at = _write(encoded, at + 1, starts[span])
        encoded[at] = _COMMA
        at = _write(encoded, at + 1, ends[span])
        encoded[at] = _COMMA
        at += 1
        if scores[span] < 0:
            encoded[at] = _MINUS
            at += 1
        at = _write(encoded, at, abs(scores[span]))
        encoded[at], encoded[at + 1], encoded[at + 2] = _DOT, _ZERO, _CLOSE
        at += 3
    encoded[at] = _CLOSE
    return encoded[: at + 1]


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
