"""Numbers of words, and repeated n-grams of them. Exact, since the words of equal hashes are compared."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import CODES
from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import ahead, inlined, kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)
_NONE = -1
LEAST, MOST = 2, 10


@inlined
def _mixed(value: np.uint64) -> np.uint64:
    value = (value ^ (value >> _HALF)) * _MULTIPLIER
    return value ^ (value >> _SHIFT)


@inlined
def _table_size(entries: int) -> int:
    size = 16
    while size < 2 * entries:
        size *= 2
    return size


@inlined
def _word_hash(codes: NDArray[np.uint32], start: int, end: int) -> np.uint64:
    value = np.uint64(end - start)
    for place in range(start, end):
        value = (value ^ np.uint64(codes[place])) * _MULTIPLIER
        value ^= value >> _SHIFT
    return value


@ahead(f"{CODES}, int64[::1], int64[::1]")
@kernel
def number_words(
    codes: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Returns a number for each word, equal for equal words, and the count of each number.

    Numbers are in the order of first occurrence.
    """
    size = _table_size(starts.size)
    mask = np.uint64(size - 1)
    table = np.empty(size, dtype=np.int32)
    for slot in range(size):
        table[slot] = _NONE
    hashes = np.empty(starts.size, dtype=np.uint64)
    firsts = np.empty(starts.size, dtype=np.int32)
    numbers = np.empty(starts.size, dtype=np.int32)
    counts = np.empty(starts.size, dtype=np.int32)
    distinct = 0
    for word in range(starts.size):
        start, end = starts[word], ends[word]
        value = _word_hash(codes, start, end)
        place = value & mask
        while True:
            number = table[place]
            if number == _NONE:
                number = distinct
                table[place] = number
                hashes[number] = value
                firsts[number] = word
                counts[number] = 0
                distinct += 1
                break
            if hashes[number] == value:
                other = firsts[number]
                if ends[other] - starts[other] == end - start and same(codes, starts[other], start, end - start):
                    break
            place = (place + np.uint64(1)) & mask
        numbers[word] = number
        counts[number] += 1
    return numbers, counts[:distinct].copy()


@ahead("int32[::1], int32[::1], int64[::1]")
@kernel
def measure_ngrams(
    numbers: NDArray[np.int32], counts: NDArray[np.int32], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns three counts of letters for the n-grams of 2 to 10 words (11, 3); rows without n-grams are -1.

    numbers, counts: as `number_words` returns them. lengths: letters of each word.
    Columns: letters of the most frequent n-gram (ties: the first seen), times its count; letters of all n-grams that
    occur more than once, each occurrence counted; letters of all n-grams.
    """
    measures = np.empty((MOST + 1, 3), dtype=np.int64)
    for n in range(MOST + 1):
        measures[n, 0] = measures[n, 1] = measures[n, 2] = -1
    ends = np.empty(numbers.size + 1, dtype=np.int64)
    ends[0] = 0
    alive = 0
    grams = np.empty(numbers.size, dtype=np.int32)
    for word in range(numbers.size):
        ends[word + 1] = ends[word] + lengths[word]
        again = counts[numbers[word]] > 1
        grams[word] = numbers[word] if again else _NONE
        alive += again
    size = _table_size(alive)
    table = np.empty(size, dtype=np.int32)
    keys = np.empty(size, dtype=np.uint64)
    firsts = np.empty(alive, dtype=np.int32)
    occurrences = np.empty(alive, dtype=np.int32)
    for n in range(LEAST, MOST + 1):
        windows = numbers.size - n + 1
        if windows < 1:
            break
        distinct = _extend(grams, windows, (table[: _table_size(alive)], keys), firsts, occurrences)
        best = _NONE
        for gram in range(distinct):
            if occurrences[gram] > 1 and (best == _NONE or occurrences[gram] > occurrences[best]):
                best = gram
        first = firsts[best] if best != _NONE else 0
        measures[n, 0] = (occurrences[best] if best != _NONE else 1) * (ends[first + n] - ends[first])
        measures[n, 1] = measures[n, 2] = alive = 0
        for window in range(windows):
            letters = ends[window + n] - ends[window]
            measures[n, 2] += letters
            if grams[window] != _NONE:
                if occurrences[grams[window]] > 1:
                    measures[n, 1] += letters
                    alive += 1
                else:
                    grams[window] = _NONE
    return measures


@inlined
def _extend(
    grams: NDArray[np.int32],
    windows: int,
    table: tuple[NDArray[np.int32], NDArray[np.uint64]],
    firsts: NDArray[np.int32],
    occurrences: NDArray[np.int32],
) -> int:
    """Replaces the number of each (n-1)-gram by that of the n-gram that begins there; returns how many there are.

    Only n-grams of which both (n-1)-grams are repeated get a number, because no others can be repeated; so each step
    has fewer left. table: numbers and keys of a hash table whose size is a power of two.
    """
    slots, keys = table
    mask = np.uint64(slots.size - 1)
    for number in range(slots.size):
        slots[number] = _NONE
    distinct = 0
    for window in range(windows):
        left, right = grams[window], grams[window + 1]
        if (left == _NONE) | (right == _NONE):
            grams[window] = _NONE
            continue
        key = np.uint64(left) << _HALF | np.uint64(right)
        slot = _mixed(key) & mask
        while slots[slot] != _NONE and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == _NONE:
            slots[slot] = distinct
            keys[slot] = key
            firsts[distinct] = window
            occurrences[distinct] = 0
            distinct += 1
        grams[window] = slots[slot]
        occurrences[slots[slot]] += 1
    grams[windows] = _NONE
    return distinct
