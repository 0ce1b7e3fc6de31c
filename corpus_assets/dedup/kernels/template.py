"""Shingles by the number of documents that have them, and tables of shingles (corpus_assets/dedup/templates)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.polynomial import begin, mix64, slide
from resources.kernels.jit import ahead, helper, kernel

U64 = np.uint64
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Concatenated texts, and the starts of each and the end of the last: (texts + 1,)."""

_STEP = 1024
_SEEN = 4096
_NONE = U64(0)


@ahead("Tuple((uint8[::1], int64[::1])), UniTuple(int64, 2), uint32, UniTuple(uint32[:, ::1], 2)")
@kernel
def count_buckets(
    texts: Texts, shingling: tuple[int, int], first: np.uint32, tables: tuple[NDArray[np.uint32], NDArray[np.uint32]]
) -> int:
    """Adds texts to the numbers of documents per bucket of hashes; returns how many of them have a shingle.

    `tables` (2, buckets): the numbers, by the low bits of a hash and by the next ones; and the last document seen in
    each bucket, counted from 1. `first`: the number of the first text, from 0. `buckets` is a power of two.
    """
    text, bounds = texts
    by_word, width = shingling
    counts, last = tables
    size = U64(counts.shape[1])
    bits = U64(0)
    while U64(1) << bits < size:
        bits += U64(1)
    values = np.empty(_STEP, dtype=U64)
    found = int(np.int64(0))  # not a literal, for which numba would compile a variant
    for document in range(bounds.size - 1):
        stop = bounds[document + 1]
        number = np.uint32(first + np.uint32(document) + np.uint32(1))
        window = begin(text, bounds[document], stop, by_word, width)
        found += window[3] <= stop
        while window[3] <= stop:
            count, window = slide(text, stop, by_word, window, values)
            for place in range(count):
                value = mix64(values[place])
                for row in range(2):
                    bucket = (value >> (bits * U64(row))) & (size - U64(1))
                    if last[row, bucket] != number:
                        last[row, bucket] = number
                        counts[row, bucket] += np.uint32(1)
    return found


@ahead("Tuple((uint8[::1], int64[::1])), UniTuple(int64, 2), boolean[:, ::1], uint64[::1], int64[::1]")
@kernel
def of_buckets(
    texts: Texts,
    shingling: tuple[int, int],
    buckets: NDArray[np.bool_],
    hashes: NDArray[U64],
    ends: NDArray[np.int64],
) -> None:
    """Writes the hashes of the shingles that lie in chosen `buckets` (2, buckets) both times, and each text's end.

    `hashes` has room for one per byte. Most repetitions within a text are left out.
    """
    text, bounds = texts
    by_word, width = shingling
    size = U64(buckets.shape[1])
    bits = U64(0)
    while U64(1) << bits < size:
        bits += U64(1)
    values = np.empty(_STEP, dtype=U64)
    seen = np.empty(_SEEN, dtype=U64)
    length = int(np.int64(0))  # not a literal, for which numba would compile a variant
    for document in range(bounds.size - 1):
        seen[:] = _NONE
        stop = bounds[document + 1]
        window = begin(text, bounds[document], stop, by_word, width)
        while window[3] <= stop:
            count, window = slide(text, stop, by_word, window, values)
            for place in range(count):
                value = mix64(values[place])
                if not (buckets[0, value & (size - U64(1))] and buckets[1, (value >> bits) & (size - U64(1))]):
                    continue
                slot = (value >> U64(40)) % U64(_SEEN)
                if seen[slot] != value:
                    seen[slot] = value
                    hashes[length] = value
                    length += 1
        ends[document] = length


@ahead("uint64[::1], uint64[::1]")
@kernel
def fill(hashes: NDArray[U64], table: NDArray[U64]) -> None:
    """Puts hashes into a table of twice as many places or more, a power of two, all 0 before; no hash is 0."""
    mask = U64(table.size - 1)
    for number in range(hashes.size):
        place = hashes[number] & mask
        while table[place] != _NONE and table[place] != hashes[number]:
            place = (place + U64(1)) & mask
        table[place] = hashes[number]


@helper
def without(values: NDArray[U64], count: int, table: NDArray[U64]) -> int:
    """Moves those of the first values whose hash is not in a table to the front; returns their number."""
    mask = U64(table.size - 1)
    kept = 0
    for number in range(count):
        value = mix64(values[number])
        place = value & mask
        while table[place] != _NONE and table[place] != value:
            place = (place + U64(1)) & mask
        values[kept] = values[number]
        kept += table[place] != value
    return kept
