"""Comparison of two documents: agreeing bits of sketches, and common members of sorted sets."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel

U64 = np.uint64

_ODD, _PAIRS, _NIBBLES = U64(0x5555555555555555), U64(0x3333333333333333), U64(0x0F0F0F0F0F0F0F0F)
_BYTES = U64(0x0101010101010101)


@inlined
def agreeing_bits(left: NDArray[U64], right: NDArray[U64]) -> int:
    """Returns in how many bits two sketches (words,) agree."""
    count = U64(0)
    for word in range(right.size):
        # LLVM recognises this addition of bits and uses the processor's instruction for it, on whole vectors.
        same = ~(left[word] ^ right[word])
        same -= (same >> U64(1)) & _ODD
        same = (same & _PAIRS) + ((same >> U64(2)) & _PAIRS)
        count += (((same + (same >> U64(4))) & _NIBBLES) * _BYTES) >> U64(56)
    return int(count)


@ahead("uint64[:, ::1], int64, uint64[:, ::1], int64[::1], uint16[::1]")
@kernel
def agreeing(
    rows: NDArray[U64], skip: int, sketches: NDArray[U64], others: NDArray[np.int64], out: NDArray[np.uint16]
) -> None:
    """Writes into `out` (n,) in how many bits row i, after its first `skip` words, agrees with sketch `others[i]`.

    `rows` (n, skip + words) and `sketches` (m, words) are contiguous.
    """
    for row in range(rows.shape[0]):
        # Slices, so that the compiler sees two plain arrays and compares many bytes at once.
        out[row] = agreeing_bits(rows[row, skip:], sketches[others[row]])


@ahead("uint64[::1], uint64[::1]")
@kernel
def common(left: NDArray[np.uint64], right: NDArray[np.uint64]) -> int:
    """Returns the number of common members of two sorted sets without repeats. It walks both once, like a merge."""
    count = 0
    i = 0
    j = 0
    while i < left.size and j < right.size:
        a, b = left[i], right[j]
        # Without branches: the processor cannot predict which set advances.
        count += a == b
        i += a <= b
        j += b <= a
    return count
