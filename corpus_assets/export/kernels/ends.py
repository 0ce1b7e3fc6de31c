"""What stands at the ends of masked documents, compiled (definitions: `formats/masked/mds.py`, `olmo.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel, read_only


@ahead(f"{read_only('uint8')}, int64[::1], int64[::1], int64[::1]")
@kernel
def learned_lengths(
    learned: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], out: NDArray[np.int64]
) -> None:
    """Fills in how many ids each document has up to the last one that is learned; 0 for one without any.

    starts, lengths: where each begins in `learned`, and how many ids it has.
    """
    for document in range(lengths.size):
        length = lengths[document]
        while length and not learned[starts[document] + length - 1]:
            length -= 1
        out[document] = length


@ahead(*(f"{read_only(ids)}, int64[::1], int64[::1], int64" for ids in ("uint16", "uint32")))
@kernel
def hold_inside(data: NDArray[Any], starts: NDArray[np.int64], lengths: NDArray[np.int64], id_: int) -> int:
    """Returns how many documents hold an id before their last one. starts, lengths: of each in `data`."""
    found = 0
    for document in range(lengths.size):
        for place in range(starts[document], starts[document] + lengths[document] - 1):
            if data[place] == id_:
                found += 1
                break
    return found
