"""Words and repeated n-grams of a list of words, as the filters of datatrove count them."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import ALPHABETIC, CODES
from corpus_assets.attributes.kernels.layout.lines import SYMBOL
from corpus_assets.attributes.kernels.ngrams import number_stretches
from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import ahead, helper, inlined, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_NONE = -1
TOP, REPEATED = (2, 3, 4), (5, 6, 7, 8, 9, 10)


@ahead(f"{CODES}, uint8[::1], uint8[::1], int64[::1]")
@kernel
def measure_list(
    codes: NDArray[np.uint32], flags: NDArray[np.uint8], marks: NDArray[np.uint8], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns counts of words (3,): those with more than symbols, the code points of these, those with a letter.

    codes: all words behind each other. ends: of each word.
    """
    counts = np.zeros(3, dtype=np.int64)
    start = 0
    for end in ends:
        letter, symbols = False, True
        for place in range(start, end):
            letter |= flags[codes[place]] & ALPHABETIC != 0
            symbols &= marks[codes[place]] & SYMBOL != 0
        if not symbols:
            counts[0] += 1
            counts[1] += end - start
        counts[2] += letter
        start = end
    return counts


@ahead(f"{CODES}, int64[::1]")
@kernel
def measure_grams(codes: NDArray[np.uint32], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns code points of repeated n-grams of 2 to 10 words (9,); -1 where the text has fewer words.

    2 to 4: of the most frequent n-gram (of several the first), with a space between its words, times its count. 5 to
    10: of all n-grams that occurred before, none of which overlaps another; equal ones have equal code points, wherever
    words begin in them. codes, ends: as `measure_list` takes them.
    """
    starts = np.zeros(ends.size, dtype=np.int64)
    starts[1:] = ends[:-1]
    found = np.full(len(TOP) + len(REPEATED), -1, dtype=np.int64)
    numbers, _, _ = number_stretches(codes, starts.astype(np.int32), ends.astype(np.int32))
    sums = _prefix_hashes(codes)
    for n in TOP:
        if ends.size >= n:
            found[n - 2] = _top(numbers, (starts, ends), n)
    for n in REPEATED:
        if ends.size >= n:
            found[n - 2] = _again(codes, sums, (starts, ends), n)
    return found


@inlined
def _table_size(entries: int) -> int:
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@inlined
def _mixed(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> _HALF)) * _MULTIPLIER
    return value ^ (value >> _HALF)


@helper
def _prefix_hashes(codes: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Returns the polynomial hash of each beginning of a text (code points + 1,), and the powers of its base."""
    sums, powers = np.empty(codes.size + 1, dtype=np.uint64), np.empty(codes.size + 1, dtype=np.uint64)
    sums[0], powers[0] = np.uint64(0), np.uint64(1)
    for place in range(codes.size):
        sums[place + 1] = sums[place] * _MULTIPLIER + np.uint64(codes[place] + np.uint32(1))
        powers[place + 1] = powers[place] * _MULTIPLIER
    return sums, powers


@helper
def _top(numbers: NDArray[np.int32], words: tuple[NDArray[np.int64], NDArray[np.int64]], n: int) -> int:
    starts, ends = words
    many = numbers.size - n + 1
    size = _table_size(many)
    mask = np.uint64(size - 1)
    table = np.full(size, _NONE, dtype=np.int32)
    counts, best = np.zeros(many, dtype=np.int32), 0
    for gram in range(many):
        key = np.uint64(0)
        for word in range(gram, gram + n):
            key = _mixed(key * _MULTIPLIER + np.uint64(numbers[word]))
        slot = key & mask
        while table[slot] != _NONE and not _equal(numbers, table[slot], gram, n):
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == _NONE:
            table[slot] = gram
        counts[table[slot]] += 1
    for gram in range(many):  # The place of a count is the first place of its n-gram.
        if counts[gram] > counts[best]:
            best = gram
    return int(counts[best] * (ends[best + n - 1] - starts[best] + n - 1))


@inlined
def _equal(numbers: NDArray[np.int32], one: int, other: int, n: int) -> bool:
    step = 0
    while step < n and numbers[one + step] == numbers[other + step]:
        step += 1
    return step == n


@helper
def _again(
    codes: NDArray[np.uint32],
    hashes: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    words: tuple[NDArray[np.int64], NDArray[np.int64]],
    n: int,
) -> int:
    sums, powers = hashes
    starts, ends = words
    many = starts.size - n + 1
    size = _table_size(many)
    mask = np.uint64(size - 1)
    table = np.full(size, _NONE, dtype=np.int32)
    gram = letters = 0
    while gram < many:
        start, end = starts[gram], ends[gram + n - 1]
        slot = _mixed(sums[end] - sums[start] * powers[end - start]) & mask
        while table[slot] != _NONE:
            other = starts[table[slot]]
            length = ends[table[slot] + n - 1] - other
            if length == end - start and same(codes, other, start, length):
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == _NONE:
            table[slot] = gram
            gram += 1
        else:
            letters += end - start
            gram += n
    return letters
