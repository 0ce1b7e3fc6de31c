"""Numbers of words, and repeated n-grams of them. Exact, since the words of equal hashes are compared."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.stretches import same
from resources.kernels.jit import helper, inlined

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
def _hash(codes: NDArray[np.uint32], start: int, end: int) -> np.uint64:
    """Returns a hash of a stretch; four parts of it are made side by side, as a multiplication takes several cycles."""
    first = second = third = fourth = np.uint64(end - start)
    place = start
    while place + 3 < end:
        first = (first ^ np.uint64(codes[place])) * _MULTIPLIER
        second = (second ^ np.uint64(codes[place + 1])) * _MULTIPLIER
        third = (third ^ np.uint64(codes[place + 2])) * _MULTIPLIER
        fourth = (fourth ^ np.uint64(codes[place + 3])) * _MULTIPLIER
        place += 4
    while place < end:
        first = (first ^ np.uint64(codes[place])) * _MULTIPLIER
        place += 1
    value = _mixed(first) ^ (second + (third ^ (fourth >> _HALF)) * _MULTIPLIER + fourth)
    return _mixed(value)


@helper
def number_stretches(
    codes: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Returns a number for each word or line, equal for equal ones; how often each number occurs, and where first.

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
        value = _hash(codes, start, end)
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
    return numbers, counts[:distinct], firsts[:distinct]


@helper
def measure_ngrams(
    numbers: NDArray[np.int32], counts: NDArray[np.int32], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns three counts of letters for the n-grams of 2 to 10 words (11, 3); rows without n-grams are -1.

    numbers, counts: as `number_stretches` returns them. lengths: letters of each word.
    Columns: letters of the most frequent n-gram (ties: the first seen), times its count; letters of all n-grams that
    occur more than once, each occurrence counted; letters of all n-grams.
    """
    measures = np.empty((MOST + 1, 3), dtype=np.int64)
    for n in range(MOST + 1):
        measures[n, 0] = measures[n, 1] = measures[n, 2] = -1
    ends = np.empty(numbers.size + 1, dtype=np.int64)
    places, grams = np.empty(numbers.size, dtype=np.int32), np.empty(numbers.size, dtype=np.int32)
    ends[0] = alive = above = 0
    for word in range(numbers.size):
        ends[word + 1] = ends[word] + lengths[word]
        above += ends[word + 1]
        places[alive], grams[alive] = word, numbers[word]
        alive += counts[numbers[word]] > 1
    below = above  # The letters of all n-grams are the sum of their ends less that of their beginnings.
    size = _table_size(alive)
    table = np.empty(size, dtype=np.int32)
    keys = np.empty(size, dtype=np.uint64)
    firsts = np.empty(alive, dtype=np.int32)
    occurrences = np.empty(alive, dtype=np.int32)
    for n in range(1, min(MOST, numbers.size) + 1):
        above, below = above - ends[n - 1], below - ends[numbers.size - n + 1]
        if n < LEAST:
            continue
        distinct, alive = _extend((places, grams), alive, (table[: _table_size(alive)], keys), firsts, occurrences)
        best = _NONE
        for gram in range(distinct):
            if occurrences[gram] > 1 and (best == _NONE or occurrences[gram] > occurrences[best]):
                best = gram
        first = firsts[best] if best != _NONE else 0
        measures[n, 0] = (occurrences[best] if best != _NONE else 1) * (ends[first + n] - ends[first])
        measures[n, 1], measures[n, 2] = 0, above - below
        kept = 0
        for number in range(alive):
            if occurrences[grams[number]] > 1:
                place = places[number]
                measures[n, 1] += ends[place + n] - ends[place]
                places[kept], grams[kept] = place, grams[number]
                kept += 1
        alive = kept
    return measures


@inlined
def _extend(
    windows: tuple[NDArray[np.int32], NDArray[np.int32]],
    alive: int,
    table: tuple[NDArray[np.int32], NDArray[np.uint64]],
    firsts: NDArray[np.int32],
    occurrences: NDArray[np.int32],
) -> tuple[int, int]:
    """Replaces (n-1)-grams by the n-grams that begin there; returns how many different ones there are, and how many.

    Only n-grams of which both (n-1)-grams are repeated are looked at, because no others can be repeated; so each step
    has fewer left. windows: places and numbers of the (n-1)-grams. table: numbers and keys of a hash table whose size
    is a power of two.
    """
    places, grams = windows
    slots, keys = table
    mask = np.uint64(slots.size - 1)
    for number in range(slots.size):
        slots[number] = _NONE
    distinct = left = 0
    for window in range(alive - 1):
        place = places[window]
        if places[window + 1] != place + 1:
            continue
        key = np.uint64(grams[window]) << _HALF | np.uint64(grams[window + 1])
        slot = _mixed(key) & mask
        while slots[slot] != _NONE and keys[slot] != key:
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] == _NONE:
            slots[slot] = distinct
            keys[slot] = key
            firsts[distinct] = place
            occurrences[distinct] = 0
            distinct += 1
        places[left], grams[left] = place, slots[slot]
        occurrences[slots[slot]] += 1
        left += 1
    return distinct, left
