"""Bins of sequences written into variable-length rows (rows, 5, L), compiled (definition: vsl.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.tokenize.ragged import Ids
from resources.kernels.jit import ahead, kernel

Offsets = NDArray[np.int64]
INPUTS, MASK, LABELS, SPAN, POSITIONS = 0, 1, 2, 3, 4


@ahead("int32[:, :, ::1], Tuple((int32[::1], uint8[::1], int64[::1])), UniTuple(int64[::1], 3), int64, int64")
@kernel
def fill(
    block: Ids,
    sequences: tuple[Ids, NDArray[np.uint8], Offsets],
    packing: tuple[Offsets, Offsets, Offsets],
    pad_id: int,
    inverted: int,
) -> int:
    """Fill a row per bin; returns the positions in the loss.

    `sequences`: ids, masks, offsets. `packing`: numbers of the bins, members and bounds of all bins. The mask is stored
    xor-ed with `inverted`, 0 or 1.
    """
    ids, masks, offsets = sequences
    bins, members, bounds = packing
    in_loss = 0
    for row in range(bins.size):
        inputs, mask, labels = block[row, INPUTS], block[row, MASK], block[row, LABELS]
        span, positions = block[row, SPAN], block[row, POSITIONS]
        at = 0
        for slot in range(bounds[bins[row]], bounds[bins[row] + 1]):
            first = offsets[members[slot]]
            length = offsets[members[slot] + 1] - first - 1
            for i in range(length):
                inputs[at + i] = ids[first + i]
            for i in range(length):
                labels[at + i] = ids[first + i + 1]
            for i in range(length):
                mask[at + i] = masks[first + i] ^ inverted
                in_loss += masks[first + i]
            for i in range(length):
                span[at + i] = length - 1 - i
                positions[at + i] = i
            at += length
        inputs[at:] = pad_id
        labels[at:] = pad_id
        mask[at:] = inverted
        span[at:] = 0
        positions[at:] = 0
    return in_loss
