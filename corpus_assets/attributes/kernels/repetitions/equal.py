"""How far two stretches of a text are equal, in logarithmic time, by hashes of its prefixes."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import helper, inlined

_BASE = np.uint64(0x9E3779B97F4A7C15)
_PLAIN = 32
"""Code points that are compared one by one before hashes are, since most stretches differ early.

A power of two, so that steps can be halved down to 1.
"""
Hashed = tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]
"""Code points, hashes of all prefixes, and powers of the base; both are made when they are needed first."""


@inlined
def unhashed(codes: NDArray[np.uint32]) -> Hashed:
    """Returns code points with room for their hashes."""
    hashes, powers = np.empty(codes.size + 1, dtype=np.uint64), np.empty(codes.size + 1, dtype=np.uint64)
    hashes[0], powers[0] = 0, 0
    return codes, hashes, powers


@helper
def _hash(text: Hashed) -> None:
    codes, hashes, powers = text
    powers[0] = 1
    for place in range(codes.size):
        hashes[place + 1] = hashes[place] * _BASE + np.uint64(codes[place]) + np.uint64(1)
        powers[place + 1] = powers[place] * _BASE


@inlined
def _equal(text: Hashed, one: int, other: int, length: int) -> bool:
    """Returns whether two stretches have equal hashes, so that they are equal except for collisions."""
    hashes, powers = text[1], text[2]
    first = hashes[one + length] - hashes[one] * powers[length]
    return bool(first == hashes[other + length] - hashes[other] * powers[length])


@helper
def equal_ahead(text: Hashed, one: int, other: int, most: int) -> int:
    """Returns how many code points are equal from two positions on, at most `most`."""
    codes = text[0]
    length = 0
    while length < most and length < _PLAIN:
        if codes[one + length] != codes[other + length]:
            return length
        length += 1
    if text[2][0] == 0:
        _hash(text)
    step = _PLAIN
    while length + step <= most and _equal(text, one + length, other + length, step):
        length += step
        step *= 2
    while step:
        if length + step <= most and _equal(text, one + length, other + length, step):
            length += step
        step //= 2
    return length


@helper
def equal_behind(text: Hashed, one: int, other: int, most: int) -> int:
    """Returns how many code points are equal before two positions, at most `most`."""
    codes = text[0]
    length = 0
    while length < most and length < _PLAIN:
        if codes[one - 1 - length] != codes[other - 1 - length]:
            return length
        length += 1
    if text[2][0] == 0:
        _hash(text)
    step = _PLAIN
    while length + step <= most and _equal(text, one - length - step, other - length - step, step):
        length += step
        step *= 2
    while step:
        if length + step <= most and _equal(text, one - length - step, other - length - step, step):
            length += step
        step //= 2
    return length
