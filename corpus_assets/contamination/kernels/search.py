"""N-grams of a text, and their lookup in an index."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.kernels.words import MULTIPLIER, SHIFT
from resources.kernels.jit import ahead, inlined, kernel, read_only

_SIXTY_FOUR = np.uint64(64)
_ONE, _SIX, _TWELVE, _MASK = np.uint64(1), np.uint64(6), np.uint64(12), np.uint64(63)
_TABLES = "Tuple((uint64[::1], int64, int64[::1], int64))"
_NGRAMS = f"Tuple(({', '.join(map(read_only, ('uint64', 'uint8', 'uint32', 'uint64')))}))"

Tables = tuple[NDArray[np.uint64], int, NDArray[np.int64], int]
"""A filter (`prefilter`) and its bits; the first key for each value of the highest bits, and their number."""
Ngrams = tuple[NDArray[np.uint64], NDArray[np.uint8], NDArray[np.uint32], NDArray[np.uint64]]
"""Keys, ascending; number of words of each n-gram; position of its words in the last array, the words of items."""


@inlined
def _key(value: np.uint64, words: int) -> np.uint64:
    """Returns the key of an n-gram from its rolling hash; n-grams of other lengths have other keys."""
    value = (value ^ (value >> SHIFT) ^ np.uint64(words)) * MULTIPLIER
    value = (value ^ (value >> SHIFT)) * MULTIPLIER
    return value ^ (value >> SHIFT)


@inlined
def _power(words: int) -> np.uint64:
    power = np.uint64(1)
    for _ in range(words):
        power *= MULTIPLIER
    return power


@ahead("uint64[::1], int64")
@kernel
def ngram_keys(hashes: NDArray[np.uint64], words: int) -> NDArray[np.uint64]:
    """Returns the key of every n-gram of a text, in its order: (words of the text - n + 1,) or none.

    hashes: those of the words. The keys of different n-grams are equal with a probability of about 2^-60 or less.
    """
    count = max(0, hashes.size - words + 1)
    keys = np.empty(count, dtype=np.uint64)
    leaves = _power(words)
    value = np.uint64(0)
    for place in range(hashes.size):
        value = value * MULTIPLIER + hashes[place]
        if place >= words:
            value -= leaves * hashes[place - words]
        if place >= words - 1:
            keys[place - words + 1] = _key(value, words)
    return keys


@inlined
def _marks(key: np.uint64) -> np.uint64:
    """Returns three bits that the lowest bits of a key number."""
    marks = _ONE << (key & _MASK)
    return marks | _ONE << (key >> _SIX & _MASK) | _ONE << (key >> _TWELVE & _MASK)


@ahead(f"{read_only('uint64')}, int64")
@kernel
def prefilter(keys: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """Returns a Bloom filter of 2^bits words of 64 bits, each of which holds three bits per key.

    The highest bits of a key choose its word, so that a lookup costs one access to memory (blocked Bloom filter, Putze,
    Sanders and Singler 2007): nearly all n-grams of documents are unknown and stop there.
    """
    table = np.zeros(1 << bits, dtype=np.uint64)
    for key in keys:
        table[key >> (_SIXTY_FOUR - np.uint64(bits))] |= _marks(key)
    return table


@inlined
def _first_at(keys: NDArray[np.uint64], buckets: NDArray[np.int64], bits: int, key: np.uint64) -> int:
    """Returns the position of the first key that is not smaller."""
    bucket = int(key >> (_SIXTY_FOUR - np.uint64(bits)))
    low, high = buckets[bucket], buckets[bucket + 1]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return int(low)


@ahead(f"uint64[::1], int64, {_TABLES}, {_NGRAMS}, uint32[:, ::1]")
@kernel
def find_ngrams(
    hashes: NDArray[np.uint64], words: int, tables: Tables, ngrams: Ngrams, found: NDArray[np.uint32]
) -> int:
    """Writes (first word, words, n-gram) for every occurrence of the index's n-grams in a text; returns their number.

    If there are more than `found` (n, 3) holds, the rest is not written. hashes: those of the text's words. words:
    number of words per key. The words of n-grams with equal keys are compared, so that collisions are not found.
    """
    table, table_bits, buckets, bucket_bits = tables
    keys, lengths, firsts, known = ngrams
    leaves = _power(words)
    shift = _SIXTY_FOUR - np.uint64(table_bits)
    value = np.uint64(0)
    count = 0
    for place in range(hashes.size):
        value = value * MULTIPLIER + hashes[place]
        if place >= words:
            value -= leaves * hashes[place - words]
        if place < words - 1:
            continue
        key = _key(value, words)
        marks = _marks(key)
        if table[key >> shift] & marks != marks:
            continue
        first = place - words + 1
        number = _first_at(keys, buckets, bucket_bits, key)
        while number < keys.size and keys[number] == key:
            length = int(lengths[number])
            if _stands_at(hashes, first, known, int(firsts[number]), length):
                if count < found.shape[0]:
                    found[count, 0], found[count, 1], found[count, 2] = first, length, number
                count += 1
            number += 1
    return count


@inlined
def _stands_at(hashes: NDArray[np.uint64], first: int, known: NDArray[np.uint64], other: int, length: int) -> bool:
    """Returns whether the words from `first` on equal the known ones from `other` on."""
    if first + length > hashes.size:
        return False
    equal = 0
    while equal < length and hashes[first + equal] == known[other + equal]:
        equal += 1
    return equal == length
