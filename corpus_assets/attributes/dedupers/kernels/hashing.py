"""128-bit hashes of parts of texts and of n-grams of words: two lanes of 64 bits, mixed separately.

The second word of a hash is never 0, because 0 marks a free slot in a table.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from resources.kernels.jit import ahead, inlined, kernel

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xD6E8FEB86659FD93)
_WHOLE = np.uint64(0xA0761D6478BD642F)
_GRAM = np.uint64(0xE7037ED1A0B428DB)
_ONE = np.uint64(1)
_STEP = np.uint64(29)
_HALF = np.uint64(32)
_A, _B = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_THIRD = np.uint64(33)


@inlined
def _mixed(value: np.uint64) -> np.uint64:
    """The last steps of MurmurHash3 (fmix64)."""
    value = (value ^ (value >> _THIRD)) * _A
    value = (value ^ (value >> _THIRD)) * _B
    return value ^ (value >> _THIRD)


@ahead(f"{CODES}, int64[::1], int64[::1]")
@kernel
def hash_parts(codes: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Returns the hash of each part (parts, 2): equal for equal code points, wherever they lie."""
    hashes = np.empty((starts.size, 2), dtype=np.uint64)
    for part in range(starts.size):
        first = _WHOLE ^ np.uint64(ends[part] - starts[part])
        second = ~first
        for place in range(starts[part], ends[part]):
            code = np.uint64(codes[place])
            first = (first ^ code) * _FIRST
            second = (second ^ code) * _SECOND
            first ^= first >> _STEP
            second ^= second >> _HALF
        hashes[part, 0] = _mixed(first)
        hashes[part, 1] = max(_mixed(second), _ONE)
    return hashes


@ahead("uint64[:,::1], int64[::1], int64, int64, boolean")
@kernel
def hash_ngrams(
    words: NDArray[np.uint64], counts: NDArray[np.int64], length: int, stride: int, as_dolma: bool
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Returns the hashes of the n-grams that count (n, 2), part by part, and how many each part has.

    words: the hash of each word (words, 2). counts: words of each part. An n-gram counts if it begins at a multiple of
    `stride` words. as_dolma: the first, the second, and each that begins at least `stride` words after the last one
    that counts. Each lane is a polynomial of the words' hashes modulo 2^64, updated from n-gram to n-gram.
    """
    hashes = np.empty(words.shape, dtype=np.uint64)
    found = np.zeros(counts.size, dtype=np.int64)
    drop_first = drop_second = _ONE
    for _ in range(length):
        drop_first *= _FIRST
        drop_second *= _SECOND
    total = begin = 0
    for part in range(counts.size):
        first = second = np.uint64(0)
        last = 0
        for word in range(begin, begin + counts[part]):
            first = first * _FIRST + words[word, 0]
            second = second * _SECOND + words[word, 1]
            gone = word - length
            if gone >= begin:
                first -= drop_first * words[gone, 0]
                second -= drop_second * words[gone, 1]
            gram = gone + 1 - begin
            if gram < 0:
                continue
            taken = (gram < 2 or gram >= last + stride) if as_dolma else gram % stride == 0
            if taken:
                last = gram
                hashes[total, 0] = _mixed(first ^ _GRAM)
                hashes[total, 1] = max(_mixed(second ^ _GRAM), _ONE)
                total += 1
                found[part] += 1
        begin += counts[part]
    return hashes[:total].copy(), found
