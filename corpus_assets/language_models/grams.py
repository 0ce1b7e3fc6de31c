"""Tables of n-grams by hash: words are hashes of 64 bits; n-grams with equal hashes are told apart by their words."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.language_models.tokens import BEGIN, END
from resources.hashing import hash_parts, keyed_hasher, keyed_hashes

Words = NDArray[np.uint64]
"""n-grams (rows, n): hashes of their words."""

NOTHING: Final = 0
"""What stands before the first word of an n-gram that is shorter than its table is wide."""

_PURPOSE: Final = "language model"
_HASH = keyed_hasher(_PURPOSE, 0)
_ODD, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


def word_hash(word: str) -> int:
    """Returns the hash of a word, which is not 0."""
    return _HASH(hash_parts(word)) or 1


def word_hashes(words: Iterable[bytes]) -> Iterator[int]:
    """Yields the hashes of words in UTF-8."""
    return (found or 1 for found in keyed_hashes(_PURPOSE, 0, words))


def other_hashes(words: Iterable[bytes]) -> Iterator[int]:
    """Yields hashes that tell words with equal hashes apart."""
    return keyed_hashes(_PURPOSE, 1, words)


BEGIN_HASH, END_HASH = word_hash(BEGIN), word_hash(END)


def table(order: int, **columns: DTypeLike) -> np.dtype[Any]:
    """Returns the type of rows with n-grams and columns of numbers."""
    return np.dtype([("words", "<u8", (order,)), *columns.items()])


def keys_of(words: Words) -> NDArray[np.uint64]:
    """Returns hashes of n-grams."""
    found = np.zeros(len(words), np.uint64)
    for column in words.T:
        found = (found ^ column) * _ODD
        found ^= found >> _SHIFT
    return found * _ODD


def ordered(words: Words) -> NDArray[np.intp]:
    """Returns the order of n-grams by hash, and by their words if hashes are equal; equal ones stay in their order."""
    keys = keys_of(words)
    order = np.argsort(keys, kind="stable")
    keys, sorted_ = keys[order], words[order]
    differ = (sorted_[1:] != sorted_[:-1]).any(axis=1)
    if (differ & (keys[1:] == keys[:-1])).any():
        return np.lexsort((*words.T[::-1], keys_of(words)))
    return order


def firsts(words: Words) -> NDArray[np.intp]:
    """Returns where each different n-gram begins. words: in order."""
    differ = np.ones(len(words), np.bool_)
    differ[1:] = (words[1:] != words[:-1]).any(axis=1)
    return np.flatnonzero(differ)


def summed(words: Words, counts: NDArray[np.uint64]) -> tuple[Words, NDArray[np.uint64]]:
    """Returns each n-gram once, in order, with the sum of its counts. counts: (rows,), or (rows, k)."""
    if not len(words):
        return words, counts
    order = ordered(words)
    words, counts = words[order], counts[order]
    starts = firsts(words)
    return words[starts], np.add.reduceat(counts, starts)


def places(of: Words, words: Words) -> NDArray[np.intp]:
    """Returns the row of each n-gram among `of`, which are in order and each once; -1 for one that is not there."""
    known, keys = keys_of(of), keys_of(words)
    found = np.searchsorted(known, keys)
    while True:
        inside = found < len(of)
        same = np.zeros(len(words), np.bool_)
        same[inside] = (of[found[inside]] == words[inside]).all(axis=1)
        others = inside & ~same
        others[others] = known[found[others]] == keys[others]  # Another n-gram with an equal hash lies before it.
        if not others.any():
            return np.where(same, found, -1)
        found[others] += 1
