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
from resources.kernels.jit import ahead, kernel, read_only

_FACTOR = U64(0x9E3779B97F4A7C15)
_ONE = U64(1)
_TYPES = ", int64[::1], int64, int64, uint64[:,::1]"
UNITS = ("uint8[::1]", read_only("uint8"), "uint64[::1]")
"""Types of units: bytes, or hashes of tokens."""


@ahead(*(units + _TYPES for units in UNITS))
@kernel
def find_passages(
    units: NDArray[np.uint8], bounds: NDArray[np.int64], length: int, gram: int, powers: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns the passages of all texts in order, and how many each has.

    units: of all texts. bounds: where each begins and the last ends (texts + 1,). gram: units of a k-gram, less than
    `length`. powers: of both bases, at least 2 * length (2, n).

    Of each passage (n, 3): a hash of its k-gram, and two of all its units. And (n, 3): its first window, counted from
    the beginning of the text; how many windows it has; and how often it repeats at once, each time behind the windows
    before, as in a text of one letter.
    """
    span = length - gram + 1
    size = 1
    while size <= span:
        size *= 2
    ring, mask = np.empty(size, dtype=np.uint64), size - 1
    drop = _ONE
    for _ in range(gram):
        drop *= _FACTOR
    hashes, places = np.empty((256, 3), dtype=np.uint64), np.empty((256, 3), dtype=np.int64)
    counts = np.zeros(bounds.size - 1, dtype=np.int64)
    total = 0
    for text in range(counts.size):
        begin = bounds[text]
        last = bounds[text + 1] - begin - gram + 1
        if last < span:
            continue
        before = total
        state = best = key = U64(0)
        at = current = -1
        low = 0
        first = second = U64(0)
        start = end = begin
        for place in range(last + 1):
            if place < last:
                if place == 0:
                    for offset in range(gram):
                        state = state * _FACTOR + U64(units[begin + offset]) + _ONE
                else:
                    gone = (U64(units[begin + place - 1]) + _ONE) * drop
                    state = state * _FACTOR + U64(units[begin + place + gram - 1]) + _ONE - gone
                value = mixed(state)
                ring[place & mask] = value
                if at < 0 or value <= best:
                    best, at = value, place
            window = place - span + 1
            if window < 0:
                continue
            if place < last:
                if at < window:
                    at, best = window, ring[window & mask]
                    for other in range(window + 1, place + 1):
                        if ring[other & mask] <= best:
                            at, best = other, ring[other & mask]
                if at == current:
                    continue
            if current >= 0:
                while start < begin + low:
                    value, weight = U64(units[start]) + _ONE, end - start - 1
                    first = minus(first, times(value, powers[0, weight]))
                    second = minus(second, times(value, powers[1, weight]))
                    start += 1
                while end < begin + window - 1 + length:
                    value = U64(units[end]) + _ONE
                    first = plus(times(first, FIRST_BASE), value)
                    second = plus(times(second, SECOND_BASE), value)
                    end += 1
                windows = window - low
                again = (
                    total > before
                    and hashes[total - 1, 1] == first
                    and hashes[total - 1, 2] == second
                    and places[total - 1, 1] == windows
                )
                if again:
                    places[total - 1, 2] += 1
                else:
                    if total == places.shape[0]:
                        more_hashes, more_places = (
                            np.empty((2 * total, 3), np.uint64),
                            np.empty((2 * total, 3), np.int64),
                        )
                        more_hashes[:total], more_places[:total] = hashes, places
                        hashes, places = more_hashes, more_places
                    hashes[total, 0], hashes[total, 1], hashes[total, 2] = key, first, second
                    places[total, 0], places[total, 1], places[total, 2] = low, windows, 1
                    total += 1
            current, low, key = at, window, best
        counts[text] = total - before
    return hashes[:total].copy(), places[:total].copy(), counts


@ahead(*(f"{units}, int64[::1], int64[::1], int64, uint64[:,::1]" for units in UNITS))
@kernel
def hash_windows(
    units: NDArray[np.uint8],
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
