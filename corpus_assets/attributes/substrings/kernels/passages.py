"""Cuts texts into passages: neighbouring windows that contain the same chosen k-gram (winnowing).

A window is `length` units of a text. Of the k-grams in it, the one with the least hash is chosen, of equal ones the
last. So windows with equal content choose k-grams with equal content at the same place, wherever they stand (Schleimer,
Wilkerson and Aiken 2003).
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.substrings.kernels.polynomial import (
    FIRST_BASE,
    SECOND_BASE,
    U64,
    minus,
    mixed,
    plus,
    times,
)
from resources.kernels.jit import ahead, helper, inlined, kernel, read_only

_FACTOR = U64(0x9E3779B97F4A7C15)
_ONE = U64(1)
_AT_ONCE = 1 << 10
UNITS = ("uint8[::1]", read_only("uint8"), "uint64[::1]")
"""Types of units: bytes, or hashes of tokens."""

Units = NDArray[np.uint8] | NDArray[np.uint64]
Sizes = tuple[int, int, int]
"""Units of a window, units of a k-gram, and number of k-grams in a window."""


@ahead(*(f"{units}, int64[::1], int64, int64, uint64[:,::1]" for units in UNITS))
@kernel
def find_passages(
    units: Units, bounds: NDArray[np.int64], length: int, gram: int, powers: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns the passages of all texts in order, and how many each has.

    units: of all texts. bounds: where each begins and the last ends (texts + 1,). gram: units of a k-gram, less than
    `length`. powers: of both bases, at least 2 * length (2, n).

    Of each passage (n, 3): a hash of its k-gram, and two of all its units. And (n, 3): its first window, counted from
    the beginning of the text; how many windows it has; and how often it stands, each time directly behind the last one,
    as in a text of one letter.
    """
    hashes, places = np.empty((256, 3), dtype=np.uint64), np.empty((256, 3), dtype=np.int64)
    counts = np.zeros(bounds.size - 1, dtype=np.int64)
    ring = _ring(length - gram + 1)
    lows, keys = np.empty(_AT_ONCE, dtype=np.int64), np.empty(_AT_ONCE, dtype=np.uint64)
    edges, rolling = np.empty(2, dtype=np.int64), np.empty(2, dtype=np.uint64)
    total = 0
    for text in range(counts.size):
        begin, size = bounds[text], bounds[text + 1] - bounds[text]
        if size < length:
            continue
        first = total
        at = np.full(3, -1, dtype=np.int64)
        at[0] = 0
        state = np.zeros(2, dtype=np.uint64)
        state[0] = _before_first(units, begin, gram)
        edges[:] = begin
        rolling[:] = U64(0)
        low, key = np.int64(-1), U64(0)
        found = lows.size
        while found == lows.size:
            found = _choose(units, begin, size, (length, gram, length - gram + 1), (at, state, ring, lows, keys))
            for number in range(found):
                if low >= 0:
                    _roll(units, (begin + low, begin + lows[number] - 1 + length), edges, rolling, powers)
                    passage = (low, lows[number] - low, key)
                    hashes, places, total = _with(hashes, places, (first, total), passage, rolling)
                low, key = lows[number], keys[number]
        _roll(units, (begin + low, begin + size), edges, rolling, powers)
        passage = (low, size - length + 1 - low, key)
        hashes, places, total = _with(hashes, places, (first, total), passage, rolling)
        counts[text] = total - first
    return hashes[:total].copy(), places[:total].copy(), counts


@inlined
def _ring(span: int) -> NDArray[np.uint64]:
    """Returns room for the hashes of the k-grams of a window: a power of two."""
    size = 1
    while size <= span:
        size *= 2
    return np.empty(size, dtype=np.uint64)


@helper
def _before_first(units: Units, begin: int, gram: int) -> U64:
    """Returns the rolling hash of the first k-gram but its last unit."""
    state = U64(0)
    for place in range(begin, begin + gram - 1):
        state = state * _FACTOR + U64(units[place]) + _ONE
    return state


@helper
def _choose(
    units: Units,
    begin: int,
    size: int,
    sizes: Sizes,
    held: tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint64]],
) -> int:
    """Writes the first window of each passage, and the hash of its k-gram, until they are full or the text ends.

    Returns their number. held: where it stands, for the next call: next k-gram, the chosen one, and that of the last
    passage; rolling hash and the least one; hashes of the last k-grams; then what it writes.
    """
    (_, gram, span), (at, kept, ring, lows, keys) = sizes, held
    place, least, current = at
    state, best = kept
    drop = _ONE
    for _ in range(gram - 1):
        drop *= _FACTOR
    mask, last, found = ring.size - 1, size - gram + 1, 0
    while place < last and found < lows.size:
        state = state * _FACTOR + U64(units[begin + place + gram - 1]) + _ONE
        value = mixed(state)
        ring[place & mask] = value
        state -= (U64(units[begin + place]) + _ONE) * drop
        if least < 0 or value <= best:
            best, least = value, place
        window = place - span + 1
        if window >= 0:
            if least < window:
                least, best = _least(ring, mask, window, place)
            if least != current:
                lows[found], keys[found] = window, best
                current = least
                found += 1
        place += 1
    at[0], at[1], at[2] = place, least, current
    kept[0], kept[1] = state, best
    return found


@inlined
def _least(ring: NDArray[np.uint64], mask: int, first: int, last: int) -> tuple[int, U64]:
    """Returns the k-gram with the least hash, of equal ones the last, and that hash."""
    least, best = first, ring[first & mask]
    for place in range(first + 1, last + 1):
        if ring[place & mask] <= best:
            least, best = place, ring[place & mask]
    return least, best


@helper
def _roll(
    units: Units,
    wanted: tuple[int, int],
    edges: NDArray[np.int64],
    rolling: NDArray[np.uint64],
    powers: NDArray[np.uint64],
) -> None:
    """Moves the hash of the units between `edges` to those between `wanted`, neither of which is before."""
    first, second = rolling
    start, end = edges
    while start < min(wanted[0], end):
        value, weight = U64(units[start]) + _ONE, end - start - 1
        first = minus(first, times(value, powers[0, weight]))
        second = minus(second, times(value, powers[1, weight]))
        start += 1
    while end < wanted[1]:
        value = U64(units[end]) + _ONE
        first = plus(times(first, FIRST_BASE), value)
        second = plus(times(second, SECOND_BASE), value)
        end += 1
    edges[0], edges[1] = start, end
    rolling[0], rolling[1] = first, second


@helper
def _with(
    hashes: NDArray[np.uint64],
    places: NDArray[np.int64],
    numbers: tuple[int, int],
    passage: tuple[int | np.int64, int | np.int64, U64],
    rolling: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.int64], int]:
    """Returns both tables with one more passage, and the number of passages: it may be a repetition of the last one.

    numbers: the first passage of the text, and that of all so far.
    """
    (first, total), (low, windows, key) = numbers, passage
    last = total - 1
    if total > first and places[last, 1] == windows and hashes[last, 1] == rolling[0] and hashes[last, 2] == rolling[1]:
        places[last, 2] += 1
        return hashes, places, total
    if total == places.shape[0]:
        more_hashes, more_places = np.empty((2 * total, 3), np.uint64), np.empty((2 * total, 3), np.int64)
        more_hashes[:total], more_places[:total] = hashes, places
        hashes, places = more_hashes, more_places
    hashes[total, 0], hashes[total, 1], hashes[total, 2] = key, rolling[0], rolling[1]
    places[total, 0], places[total, 1], places[total, 2] = low, windows, 1
    return hashes, places, total + 1


@ahead(*(f"{units}, int64[::1], int64[::1], int64, uint64[:,::1]" for units in UNITS))
@kernel
def hash_windows(
    units: Units,
    starts: NDArray[np.int64],
    counts: NDArray[np.int64],
    length: int,
    powers: NDArray[np.uint64],
) -> NDArray[np.uint64]:
    """Returns the hashes of `counts` windows from each of `starts` on, one after another (windows, 2)."""
    hashes = np.empty((counts.sum(), 2), dtype=np.uint64)
    total = 0
    for run in range(starts.size):
        if counts[run] == 0:
            continue
        first = second = U64(0)
        for place in range(starts[run], starts[run] + length - 1):
            value = U64(units[place]) + _ONE
            first = plus(times(first, FIRST_BASE), value)
            second = plus(times(second, SECOND_BASE), value)
        for window in range(starts[run], starts[run] + counts[run]):
            value = U64(units[window + length - 1]) + _ONE
            first = plus(times(first, FIRST_BASE), value)
            second = plus(times(second, SECOND_BASE), value)
            hashes[total, 0], hashes[total, 1] = mixed(first), second
            total += 1
            value = U64(units[window]) + _ONE
            first = minus(first, times(value, powers[0, length - 1]))
            second = minus(second, times(value, powers[1, length - 1]))
    return hashes
