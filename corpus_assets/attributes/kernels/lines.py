"""Lines of a text and the results of C4's rules for each."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES, SPACE
from resources.kernels.jit import ahead, inlined, kernel

_NEWLINE = 10


@ahead(f"{CODES}, uint8[::1], uint32[::1], int64")
@kernel
def measure_lines(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], endings: NDArray[np.uint32], fewest_words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Returns for each line where it begins and ends, whether it lacks an ending, and whether it has too few words.

    A line ends with its newline; one more line, possibly empty, follows the last newline. endings: the allowed last
    visible code points of a line.
    """
    count = 1
    for code in codes:
        count += code == _NEWLINE
    starts, ends = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    unended, short = np.empty(count, dtype=np.bool_), np.empty(count, dtype=np.bool_)
    line = words = 0
    starts[0] = 0
    last = np.uint32(0)
    inside = False
    for place in range(codes.size):
        code = codes[place]
        space = flags[code] & SPACE != 0
        words += (not space) & (not inside)
        inside = not space
        if not space:
            last = code
        if code == _NEWLINE:
            ends[line] = place + 1
            unended[line] = not _is_one_of(last, endings)
            short[line] = words < fewest_words
            line += 1
            starts[line] = place + 1
            words, last = 0, np.uint32(0)
    ends[line] = codes.size
    unended[line] = not _is_one_of(last, endings)
    short[line] = words < fewest_words
    return starts, ends, unended, short


@inlined
def _is_one_of(code: np.uint32, endings: NDArray[np.uint32]) -> bool:
    found = False
    for ending in endings:
        found |= code == ending
    return found
