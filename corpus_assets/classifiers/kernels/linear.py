"""Logistic regression over hashed n-grams of words: features, training and scores, one text after another.

Everything is done in one order, so that equal texts in equal order give equal weights to the byte.
"""

import math

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel, read_only

_CODES = read_only("uint32")
_A, _B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(33)
_SPACE, _SIGN, _LETTER, _ALONE = 0, 1, 2, 3


@inlined
def _mixed(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> _SHIFT)) * _A
    value = (value ^ (value >> _SHIFT)) * _B
    return value ^ (value >> _SHIFT)


@inlined
def _kind(code: np.uint32) -> int:
    """Returns whether a code point is space, a sign, part of a word, or a word alone (scripts without spaces)."""
    if code < 128:
        if 97 <= code <= 122 or 48 <= code <= 57 or 65 <= code <= 90 or code == 95:
            return _LETTER
        return _SPACE if code <= 32 or code == 127 else _SIGN
    if code in (0x85, 0xA0, 0x1680, 0x3000) or 0x2000 <= code <= 0x200B or code in (0x2028, 0x2029, 0x202F, 0x205F):
        return _SPACE
    if code < 0xC0 or 0x2010 <= code <= 0x206F or 0x3001 <= code <= 0x303F or 0xFF00 <= code <= 0xFF0F:
        return _SIGN
    without_spaces = 0x0E00 <= code <= 0x0EFF or 0x1000 <= code <= 0x109F or 0x1780 <= code <= 0x17FF
    if without_spaces or 0x3040 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x3FFFF:
        return _ALONE
    return _LETTER


@ahead(f"{_CODES}, int64, int64")
@kernel
def bucketed_ngrams(codes: NDArray[np.uint32], longest: int, buckets: int) -> NDArray[np.uint32]:
    """Returns the bucket of each n-gram of 1 to `longest` words; a sign is a word, and so is a code point of Han."""
    words = np.empty(codes.size, dtype=np.uint64)
    count = 0
    inside = False
    value = np.uint64(0)
    for place in range(codes.size):
        kind = _kind(codes[place])
        if kind == _LETTER:
            value = (value if inside else _STEP) ^ np.uint64(codes[place])
            value = (value * _A) ^ (value >> _SHIFT)
            inside = True
            continue
        if inside:
            words[count] = _mixed(value)
            count += 1
            inside = False
        if kind != _SPACE:
            words[count] = _mixed(np.uint64(codes[place]) * _STEP)
            count += 1
    if inside:
        words[count] = _mixed(value)
        count += 1
    found = np.empty(count * longest, dtype=np.uint32)
    filled = 0
    for first in range(count):
        gram = np.uint64(0)
        for length in range(min(longest, count - first)):
            gram = _mixed(gram * _STEP + words[first + length] + np.uint64(length))
            found[filled] = np.uint32(gram % np.uint64(buckets))
            filled += 1
    return found[:filled].copy()


@ahead("uint32[::1], float64, float64, float64, float64[:,::1]")
@kernel
def learn(
    grams: NDArray[np.uint32],
    target: float,
    weight: float,
    rate: float,
    state: NDArray[np.float64],
) -> None:
    """Moves the weights after one example by AdaGrad (Duchi et al. 2011); the last weight is the bias.

    target: 1 or 0. weight: of the example. state: the weights, and 1 and the squares of all gradients so far (2, n).
    """
    weights, squares = state[0], state[1]
    bias = weights.size - 1
    unit = 1.0 / math.sqrt(max(1, grams.size))
    total = weights[bias]
    for gram in grams:
        total += weights[gram] * unit
    gradient = (1.0 / (1.0 + math.exp(-min(max(total, -35.0), 35.0))) - target) * weight
    squares[bias] += gradient * gradient
    weights[bias] -= rate * gradient / math.sqrt(squares[bias])
    gradient *= unit
    for gram in grams:
        squares[gram] += gradient * gradient
        weights[gram] -= rate * gradient / math.sqrt(squares[gram])


@ahead(f"uint32[::1], {read_only('float32')}")
@kernel
def log_odds(grams: NDArray[np.uint32], weights: NDArray[np.float32]) -> float:
    """Returns the log-odds of a text by its n-grams, before calibration."""
    unit = 1.0 / math.sqrt(max(1, grams.size))
    total = 0.0
    for gram in grams:
        total += np.float64(weights[gram])
    return total * unit + np.float64(weights[weights.size - 1])
