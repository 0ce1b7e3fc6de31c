"""Paragraphs of many concatenated texts."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from resources.kernels.jit import ahead, inlined, kernel


@inlined
def _begins(codes: NDArray[np.uint32], place: int, end: int, separator: NDArray[np.uint32]) -> bool:
    """Returns whether the separator is at a position of a text that ends at `end`."""
    if place + separator.size > end:
        return False
    offset = 0
    while offset < separator.size and codes[place + offset] == separator[offset]:
        offset += 1
    return offset == separator.size


@ahead(f"{CODES}, int64[::1], {CODES}")
@kernel
def split_texts(
    codes: NDArray[np.uint32], bounds: NDArray[np.int64], separator: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns where the paragraphs of all texts begin and end, without separators, and how many each text has.

    As `str.split` does; an empty text has none. bounds: where each text begins, and the end of the last (texts + 1,).
    """
    counts = np.zeros(bounds.size - 1, dtype=np.int64)
    for text in range(counts.size):
        place, end = bounds[text], bounds[text + 1]
        counts[text] = end > place
        while place < end:
            if _begins(codes, place, end, separator):
                counts[text] += 1
                place += separator.size
            else:
                place += 1
    starts, ends = np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum(), dtype=np.int64)
    number = 0
    for text in range(counts.size):
        place, end = bounds[text], bounds[text + 1]
        if place == end:
            continue
        starts[number] = place
        while place < end:
            if _begins(codes, place, end, separator):
                ends[number] = place
                number += 1
                place += separator.size
                starts[number] = place
            else:
                place += 1
        ends[number] = end
        number += 1
    return starts, ends, counts


@ahead(f"{CODES}, uint8[::1], int64, int64[::1], int64[::1]")
@kernel
def are_blank(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    space: int,
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Returns for each part whether it consists of code points with the flag `space` only."""
    blank = np.ones(starts.size, dtype=np.bool_)
    for part in range(starts.size):
        for place in range(starts[part], ends[part]):
            if flags[codes[place]] & space == 0:
                blank[part] = False
                break
    return blank
