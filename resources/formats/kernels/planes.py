"""HDF5's byte shuffle of int32 values: plane p holds byte p of every value, lowest byte first."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel


@ahead("int32[::1], uint8[:, ::1], int64")
@kernel
def split_planes(values: NDArray[np.int32], planes: NDArray[np.uint8], first: int) -> np.uint32:
    """Writes the bytes of `values` (n,) into `planes` (4, first + n or more), from column `first` on.

    Returns the bits that any value has.
    """
    # Slices let the compiler see plain arrays and work on many values at once.
    size = values.size
    lowest, low = planes[0, first : first + size], planes[1, first : first + size]
    high, highest = planes[2, first : first + size], planes[3, first : first + size]
    bits = np.int32(0)
    for i in range(size):
        value = values[i]
        bits |= value
        lowest[i] = value & 0xFF
        low[i] = (value >> 8) & 0xFF
        high[i] = (value >> 16) & 0xFF
        highest[i] = (value >> 24) & 0xFF
    return np.uint32(bits)


@ahead("Array(uint8, 2, 'C', readonly=True), int64, int32[::1]")
@kernel
def join_planes(planes: NDArray[np.uint8], first: int, values: NDArray[np.int32]) -> None:
    """Fills `values` (n,) from the columns of `planes` from `first` on; the inverse of `split_planes`."""
    size = values.size
    lowest, low = planes[0, first : first + size], planes[1, first : first + size]
    high, highest = planes[2, first : first + size], planes[3, first : first + size]
    for i in range(size):
        lower_half = np.int32(lowest[i]) | np.int32(np.int32(low[i]) << np.int32(8))
        upper_half = np.int32(high[i]) | np.int32(np.int32(highest[i]) << np.int32(8))
        values[i] = lower_half | np.int32(upper_half << np.int32(16))
