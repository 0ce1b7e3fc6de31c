"""The keyed order of numbers, compiled (definition: `order.py`)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel


@kernel
def permute(numbers: NDArray[np.int64], size: int, columns: int, keys: NDArray[np.uint64]) -> None:
    """Replaces each number below `size` by the number at that place in the keyed order."""
    wide = np.uint64(columns)
    rows = np.uint64(-(-size // columns))
    for place in range(numbers.size):
        value = np.uint64(numbers[place])
        while True:
            row, column = value // wide, value % wide
            for round_ in range(0, keys.size, 2):
                row = (row + _mixed(column + keys[round_]) % rows) % rows
                column = (column + _mixed(row + keys[round_ + 1]) % wide) % wide
            value = row * wide + column
            if value < np.uint64(size):
                break
        numbers[place] = np.int64(value)


@inlined
def _mixed(value: np.uint64) -> np.uint64:
    """Returns the output of SplitMix64 (Steele, Lea and Flood 2014) for a state."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
