"""Documents and separators written one after another, compiled (definition: `documents.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel, read_only

_GIVEN = "Tuple((int64[::1], int64[::1], uint8[::1])), UniTuple(int64[::1], 2)"
_USUAL = [f"{read_only('uint16')}, {_GIVEN}, {out}[::1], int64[::1]" for out in ("uint16", "uint32")]
_MASKS = f"{read_only('uint8')}, {_GIVEN}, uint8[::1], int64[::1]"


@ahead(*_USUAL, _MASKS)
@kernel
def separate(
    data: NDArray[Any],
    documents: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]],
    separators: tuple[NDArray[np.int64], NDArray[np.int64]],
    out: NDArray[Any],
    place: NDArray[np.int64],
) -> int:
    """Continues writing documents, each between its two `separators` (any ids), until `out` is full.

    documents: where each begins in `data`, its length, and which separators it has: 1 for the one before, 2 for the one
    after it, 3 for both; empty if all have both. `place` is read and moved on: document, and ids of it and around it
    that are written. Returns the number of ids written.
    """
    starts, lengths, sides = documents
    before, after = separators
    document, inside, filled = place[0], place[1], 0
    while document < lengths.size and filled < out.size:
        length = lengths[document]
        side = sides[document] if sides.size else np.uint8(3)
        head, tail = before.size if side & 1 else 0, after.size if side & 2 else 0
        if inside < head:
            out[filled] = before[inside]
            filled += 1
            inside += 1
            continue
        done = inside - head
        count = min(length - done, out.size - filled)
        if count > 0:
            first = starts[document] + done
            for i in range(count):
                out[filled + i] = data[first + i]
            filled += count
            inside += count
        while head + length <= inside < head + length + tail and filled < out.size:
            out[filled] = after[inside - head - length]
            filled += 1
            inside += 1
        if inside == head + length + tail:
            document += 1
            inside = 0
    place[0], place[1] = document, inside
    return filled
