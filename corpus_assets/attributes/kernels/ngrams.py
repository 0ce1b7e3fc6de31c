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
_FIRST_TABLE = 1 << 16
"""Entries for which a table has room at first; it grows with what is found, which in a long text is far less."""
_AT_ONCE = 1 << 20
"""n-grams that are looked up at once; a longer text goes through its n-grams several times, a share at a time."""


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
    codes: NDArray[np.uint32], starts: NDArray[np.int32], ends: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Returns a number for each word or line, equal for equal ones; how often each number occurs, and where first.

    Numbers are in the order of first occurrence.
    """
    table = _empty_table(_table_size(min(starts.size, _FIRST_TABLE)))
    hashes = np.empty(starts.size, dtype=np.uint64)
    firsts = np.empty(starts.size, dtype=np.int32)
    numbers = np.empty(starts.size, dtype=np.int32)
    counts = np.empty(starts.size, dtype=np.int32)
    done, distinct = _number((codes, starts, ends), table, hashes, (firsts, numbers, counts), (0, 0))
    while done < starts.size:
        table = _larger(table, hashes, distinct)
        done, distinct = _number((codes, starts, ends), table, hashes, (firsts, numbers, counts), (done, distinct))
    return numbers, counts[:distinct], firsts[:distinct]


@inlined
def _number(
    stretches: tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.int32]],
    table: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    found: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    so_far: tuple[int, int],
) -> tuple[int, int]:
    """Numbers stretches until the table is half full; returns how many have a number, and how many numbers there are.

    found: first stretch of each number, number of each stretch, stretches of each number. so_far: as it returns them.
    """
    codes, starts, ends = stretches
    firsts, numbers, counts = found
    word, distinct = so_far
    mask, most = np.uint64(table.size - 1), table.size // 2
    while word < starts.size and distinct < most:
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
        word += 1
    return word, distinct


@inlined
def _empty_table(size: int) -> NDArray[np.int32]:
    table = np.empty(size, dtype=np.int32)
    for slot in range(size):
        table[slot] = _NONE
    return table


@helper
def _larger(table: NDArray[np.int32], hashes: NDArray[np.uint64], distinct: int) -> NDArray[np.int32]:
    """Returns a table of twice the size with the same numbers."""
    larger = _empty_table(2 * table.size)
    mask = np.uint64(larger.size - 1)
    for number in range(distinct):
        place = hashes[number] & mask
        while larger[place] != _NONE:
            place = (place + np.uint64(1)) & mask
        larger[place] = number
    return larger


@helper
def measure_ngrams(
    numbers: NDArray[np.int32],
    counts: NDArray[np.int32],
    ends: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Returns three counts of letters for the n-grams of 2 to 10 words (11, 3); rows without n-grams are -1.

    numbers, counts: as `number_stretches` returns them; the numbers are overwritten. ends: as `sums_of_lengths`
    returns them.
    Columns: letters of the most frequent n-gram (ties: the first seen), times its count; letters of all n-grams that
    occur more than once, each occurrence counted; letters of all n-grams.
    """
    measures = np.empty((MOST + 1, 3), dtype=np.int64)
    for n in range(MOST + 1):
        measures[n, 0] = measures[n, 1] = measures[n, 2] = -1
    places, grams = np.empty(numbers.size, dtype=np.int32), numbers
    alive = above = 0
    for word in range(numbers.size):
        above += ends[word + 1]
        number = numbers[word]
        places[alive], grams[alive] = word, number
        alive += counts[number] > 1
    below = above  # The letters of all n-grams are the sum of their ends less that of their beginnings.
    size = _table_size(min(alive, _AT_ONCE))
    table, keys = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint64)
    firsts = np.empty(alive, dtype=np.int32)
    occurrences = np.empty(alive, dtype=np.int32)
    for n in range(1, min(MOST, numbers.size) + 1):
        above, below = above - ends[n - 1], below - ends[numbers.size - n + 1]
        if n < LEAST:
            continue
        if alive > _AT_ONCE:
            distinct, left = _extend_by_shares((places, grams), alive, (table, keys), firsts, occurrences)
        else:
            few = table[: _table_size(alive)]
            distinct, left = _extend((places, grams), alive, (few, keys), firsts, occurrences)
        best = _NONE
        for gram in range(distinct):
            if occurrences[gram] > 1 and (best == _NONE or _is_before(gram, best, occurrences, firsts)):
                best = gram
        first = firsts[best] if best != _NONE else 0
        measures[n, 0] = (occurrences[best] if best != _NONE else 1) * np.int64(ends[first + n] - ends[first])
        measures[n, 1], measures[n, 2] = 0, above - below
        alive = 0
        for number in range(left):
            if occurrences[grams[number]] > 1:
                place = places[number]
                measures[n, 1] += ends[place + n] - ends[place]
                places[alive], grams[alive] = place, grams[number]
                alive += 1
    return measures


@inlined
def _is_before(gram: int, other: int, occurrences: NDArray[np.int32], firsts: NDArray[np.int32]) -> bool:
    """Returns whether an n-gram occurs more often than another, or as often and was seen first."""
    if occurrences[gram] == occurrences[other]:
        return bool(firsts[gram] < firsts[other])
    return bool(occurrences[gram] > occurrences[other])


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


@helper
def _extend_by_shares(
    windows: tuple[NDArray[np.int32], NDArray[np.int32]],
    alive: int,
    table: tuple[NDArray[np.int32], NDArray[np.uint64]],
    firsts: NDArray[np.int32],
    occurrences: NDArray[np.int32],
) -> tuple[int, int]:
    """Does the same for more n-grams than the table has room for: a share of them, by their hash, at a time."""
    places, grams = windows
    slots, keys = table
    longer = np.empty(alive, dtype=np.int32)
    shares = (alive + _AT_ONCE - 1) // _AT_ONCE
    distinct = left = 0
    for share in range(shares):
        for slot in range(slots.size):
            slots[slot] = _NONE
        mask, before, left = np.uint64(slots.size - 1), distinct, 0
        for window in range(alive - 1):
            if places[window + 1] != places[window] + 1:
                continue
            left += 1
            key = np.uint64(grams[window]) << _HALF | np.uint64(grams[window + 1])
            mixed = _mixed(key)
            if (mixed >> _HALF) % np.uint64(shares) != np.uint64(share):
                continue
            place = mixed & mask
            while slots[place] != _NONE and keys[place] != key:
                place = (place + np.uint64(1)) & mask
            if slots[place] == _NONE:
                slots[place] = distinct
                keys[place] = key
                firsts[distinct] = places[window]
                occurrences[distinct] = 0
                distinct += 1
            longer[left - 1] = slots[place]
            occurrences[slots[place]] += 1
            if 4 * (distinct - before) > 3 * slots.size:  # A share may be larger than the others.
                slots, keys = _wider(slots, keys)
                mask = np.uint64(slots.size - 1)
    kept = 0
    for window in range(alive - 1):
        if places[window + 1] == places[window] + 1:
            places[kept], grams[kept] = places[window], longer[kept]
            kept += 1
    return distinct, left


@helper
def _wider(slots: NDArray[np.int32], keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """Returns a hash table of twice the size with the same numbers and keys."""
    wider, moved = _empty_table(2 * slots.size), np.empty(2 * slots.size, dtype=np.uint64)
    mask = np.uint64(wider.size - 1)
    for slot in range(slots.size):
        if slots[slot] != _NONE:
            place = _mixed(keys[slot]) & mask
            while wider[place] != _NONE:
                place = (place + np.uint64(1)) & mask
            wider[place], moved[place] = slots[slot], keys[slot]
    return wider, moved
