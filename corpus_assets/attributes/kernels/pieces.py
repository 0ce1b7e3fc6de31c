"""Runs of word characters and of other visible characters, as `\\w+|[^\\w\\s]+` of the library `regex` finds them."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, UNICODE_SPACE, WORD
from resources.kernels.jit import ahead, kernel


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def count_pieces(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns one more than the number of runs in each part of the text."""
    counts = np.ones(starts.size, dtype=np.int64)
    for part in range(starts.size):
        before = UNICODE_SPACE
        for place in range(starts[part], ends[part]):
            kind = flags[codes[place]] & (WORD | UNICODE_SPACE)
            counts[part] += (kind != before) & (kind & UNICODE_SPACE == 0)
            before = kind
    return counts
