"""Counts over the words of a text, for Gopher's rules."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import ALPHABETIC
from resources.kernels.jit import helper, inlined

_HASH, _ELLIPSIS = 0x23, 0x2026
_LONGEST_REQUIRED = 4


@helper
def measure_words(
    codes: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    words: tuple[NDArray[np.int32], NDArray[np.int32]],
    distinct: tuple[NDArray[np.int32], NDArray[np.int32]],
    required: NDArray[np.uint32],
) -> tuple[int, int, int]:
    """Returns how many words hold a hash sign or an ellipsis, how many a letter, and how many are required ones.

    words: beginnings and ends. distinct: how often each different word occurs, and where first. required: packed words
    of at most four ASCII letters, see `packed`.
    """
    starts, ends = words
    counts, firsts = distinct
    symbols = alphabetic = wanted = 0
    for number in range(counts.size):
        word, count = firsts[number], counts[number]
        symbol = letter = False
        for place in range(starts[word], ends[word]):
            code = codes[place]
            symbol |= (code == _HASH) | (code == _ELLIPSIS)
            letter |= flags[code] & ALPHABETIC != 0
        symbols += symbol * count
        alphabetic += letter * count
        if ends[word] - starts[word] <= _LONGEST_REQUIRED:
            wanted += _is_one_of(codes, starts[word], ends[word], required) * count
    return symbols, alphabetic, wanted


@helper
def median_length(starts: NDArray[np.int32], ends: NDArray[np.int32]) -> float:
    """Returns the median length of words; 0 without words. starts, ends: of the words."""
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


@helper
def sums_of_lengths(starts: NDArray[np.int32], ends: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the letters of all words before each, and of all (words + 1,). starts, ends: of the words."""
    sums = np.empty(starts.size + 1, dtype=np.int32)
    sums[0] = 0
    for word in range(starts.size):
        sums[word + 1] = sums[word] + (ends[word] - starts[word])
    return sums


@inlined
def _is_one_of(codes: NDArray[np.uint32], start: int, end: int, required: NDArray[np.uint32]) -> bool:
    packed = np.uint32(0)
    for place in range(start, end):
        if not 0 < codes[place] < 0x80:  # A NUL before a word would leave its packed letters as they are.
            return False
        packed = packed << np.uint32(8) | codes[place]
    found = False
    for word in required:
        found |= word == packed
    return found
