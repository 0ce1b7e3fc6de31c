"""Polynomials modulo the prime 2^61 - 1, in two lanes with bases of their own: hashes of 122 bits that can roll.

The polynomial of units u[0..n) is the sum of (u[i] + 1) * base^(n-1-i). Unlike sums modulo 2^64, there is no text of
two letters whose pieces all collide (Thue and Morse).
"""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined

U64 = np.uint64
PRIME = U64((1 << 61) - 1)
FIRST_BASE, SECOND_BASE = U64(0x1A5F7D3B9C2E8641), U64(0x0D93C1E7F4B2A685)
_LOW, _LOWER = U64((1 << 31) - 1), U64((1 << 30) - 1)
_HALF, _LESS, _ONE, _ALL = U64(31), U64(30), U64(1), U64(61)
_A, _B, _THIRD = U64(0xFF51AFD7ED558CCD), U64(0xC4CEB9FE1A85EC53), U64(33)


@inlined
def mixed(value: U64) -> U64:
    """The last steps of MurmurHash3 (fmix64)."""
    value = (value ^ (value >> _THIRD)) * _A
    value = (value ^ (value >> _THIRD)) * _B
    return value ^ (value >> _THIRD)


@inlined
def times(one: U64, other: U64) -> U64:
    """Returns the product of two numbers below the prime, modulo it."""
    high, low = one >> _HALF, one & _LOW
    other_high, other_low = other >> _HALF, other & _LOW
    middle = low * other_high + high * other_low
    total = high * other_high * U64(2) + (middle >> _LESS) + ((middle & _LOWER) << _HALF) + low * other_low
    total = (total & PRIME) + (total >> _ALL)
    return total - PRIME if total >= PRIME else total


@inlined
def plus(one: U64, other: U64) -> U64:
    """Returns the sum of two numbers below the prime, modulo it."""
    total = one + other
    return total - PRIME if total >= PRIME else total


@inlined
def minus(one: U64, other: U64) -> U64:
    """Returns the difference of two numbers below the prime, modulo it."""
    return one - other if one >= other else one + PRIME - other


def powers_of_bases(count: int) -> NDArray[np.uint64]:
    """Returns the first powers of both bases, shape (2, count)."""
    found = np.empty((2, count), dtype=np.uint64)
    for lane, base in enumerate((int(FIRST_BASE), int(SECOND_BASE))):
        value = 1
        for place in range(count):
            found[lane, place] = value
            value = value * base % int(PRIME)
    return found
