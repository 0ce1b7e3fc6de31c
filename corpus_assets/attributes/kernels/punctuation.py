"""Parts of a text that consist of punctuation, whitespace and pictures."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, PICTURE_OR_PUNCTUATION
from resources.kernels.jit import ahead, kernel


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def are_punctuation(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Returns for each part whether it consists of them only."""
    all_such = np.ones(starts.size, dtype=np.bool_)
    for part in range(starts.size):
        for place in range(starts[part], ends[part]):
            if flags[codes[place]] & PICTURE_OR_PUNCTUATION == 0:
                all_such[part] = False
                break
    return all_such
