"""Marks hashes that were seen earlier, in the given order: with a table of all seen ones, or a Bloom filter.

The table is an array of the caller's with open addressing, so that its memory is bounded and counted.
"""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel

_ONE = np.uint64(1)
_HALF = np.uint64(32)
_BIT = np.uint64(63)


@ahead("uint64[:,::1], uint64[:,::1], boolean[::1]")
@kernel
def mark_seen(hashes: NDArray[np.uint64], table: NDArray[np.uint64], seen: NDArray[np.bool_]) -> int:
    """Marks the hashes (n, 2) that are in the table already and adds the others; returns the number of added ones.

    table: (slots, 2), slots a power of two and more than it will hold; a slot whose second word is 0 is free.
    """
    mask = np.uint64(table.shape[0] - 1)
    new = 0
    for row in range(hashes.shape[0]):
        first, second = hashes[row, 0], hashes[row, 1]
        slot = second & mask
        while table[slot, 1] != 0 and not (table[slot, 1] == second and table[slot, 0] == first):
            slot = (slot + _ONE) & mask
        seen[row] = table[slot, 1] != 0
        if not seen[row]:
            table[slot, 0], table[slot, 1] = first, second
            new += 1
    return new


@ahead("uint64[:,::1], uint64[:,::1], boolean[::1]")
@kernel
def find_seen(hashes: NDArray[np.uint64], table: NDArray[np.uint64], seen: NDArray[np.bool_]) -> None:
    """Marks the hashes (n, 2) that are in a table as `mark_seen` fills it."""
    mask = np.uint64(table.shape[0] - 1)
    for row in range(hashes.shape[0]):
        first, second = hashes[row, 0], hashes[row, 1]
        slot = second & mask
        while table[slot, 1] != 0 and not (table[slot, 1] == second and table[slot, 0] == first):
            slot = (slot + _ONE) & mask
        seen[row] = table[slot, 1] != 0


@ahead("uint64[:,::1], uint64[::1], int64, boolean[::1]")
@kernel
def mark_in_filter(
    hashes: NDArray[np.uint64], words: NDArray[np.uint64], functions: int, seen: NDArray[np.bool_]
) -> int:
    """Like `mark_seen`, with a Bloom filter of 64-bit words.

    Probe i is made of first + i * second (Kirsch and Mitzenmacher 2006): its upper half chooses a word in proportion,
    its lowest bits one bit of the word.
    """
    size = np.uint64(words.size)
    new = 0
    for row in range(hashes.shape[0]):
        place, step = hashes[row, 0], hashes[row, 1] | _ONE
        known = True
        for _ in range(functions):
            word, flag = ((place >> _HALF) * size) >> _HALF, _ONE << (place & _BIT)
            if words[word] & flag == 0:
                known = False
                words[word] |= flag
            place += step
        seen[row] = known
        new += not known
    return new


@ahead("uint8[::1], int64[::1]")
@kernel
def set_bits(bits: NDArray[np.uint8], places: NDArray[np.int64]) -> None:
    """Sets bits in the order of `numpy.packbits`: the first is the highest of the first byte."""
    for place in places:
        bits[place >> 3] |= 128 >> (place & 7)


@ahead("uint8[::1], int64, uint32[::1], uint32[::1]")
@kernel
def count_bits(
    bits: NDArray[np.uint8], start: int, sizes: NDArray[np.uint32], counted: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Returns how many of the last `counted` bits of each part are set.

    Parts have `sizes` bits each, one after another from bit `start` on.
    """
    counts = np.zeros(sizes.size, dtype=np.int64)
    end = start
    for part in range(sizes.size):
        end += sizes[part]
        for place in range(end - counted[part], end):
            counts[part] += (bits[place >> 3] >> (7 - (place & 7))) & 1
    return counts
