"""Counts over the words of a text, for Gopher's rules."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import ALPHABETIC, CODES
from resources.kernels.jit import ahead, inlined, kernel

_HASH, _ELLIPSIS = 0x23, 0x2026
_LONGEST_REQUIRED = 4


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1], uint32[::1]")
@kernel
def measure_words(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    required: NDArray[np.uint32],
) -> tuple[int, int, int]:
    """Returns how many words hold a hash sign or an ellipsis, how many a letter, and how many are required ones.

    required: packed words of at most four ASCII letters, see `packed`.
    """
    symbols = alphabetic = wanted = 0
    for word in range(starts.size):
        symbol = letter = False
        for place in range(starts[word], ends[word]):
            code = codes[place]
            symbol |= (code == _HASH) | (code == _ELLIPSIS)
            letter |= flags[code] & ALPHABETIC != 0
        symbols += symbol
        alphabetic += letter
        if ends[word] - starts[word] <= _LONGEST_REQUIRED:
            wanted += _is_one_of(codes, starts[word], ends[word], required)
    return symbols, alphabetic, wanted


@ahead("int64[::1], int64[::1]")
@kernel
def median_length(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> float:
    """Returns the median length of words; 0 without words."""
    if starts.size == 0:
        return 0.0
    longest = 0
    for word in range(starts.size):
        longest = max(longest, ends[word] - starts[word])
    counts = np.zeros(longest + 1, dtype=np.int64)
    for word in range(starts.size):
        counts[ends[word] - starts[word]] += 1
    lower, upper = (starts.size - 1) // 2, starts.size // 2
    seen, total, taken = 0, 0, 0
    for length in range(counts.size):
        seen += counts[length]
        if taken == 0 and seen > lower:
            total, taken = length, 1
        if taken == 1 and seen > upper:
            return (total + length) / 2.0
    return 0.0


@inlined
def _is_one_of(codes: NDArray[np.uint32], start: int, end: int, required: NDArray[np.uint32]) -> bool:
    packed = np.uint32(0)
    for place in range(start, end):
        if codes[place] >= 0x80:
            return False
        packed = packed << np.uint32(8) | codes[place]
    found = False
    for word in required:
        found |= word == packed
    return found
