"""Stretches of a text compared code point by code point."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined


@inlined
def same(codes: NDArray[np.uint32], one: int, other: int, length: int) -> bool:
    """Returns whether two stretches of a length are equal."""
    place = 0
    while place < length and codes[one + place] == codes[other + place]:
        place += 1
    return place == length
