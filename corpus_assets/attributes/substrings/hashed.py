"""Hashes of several 64-bit words: their ranges, and which are equal."""

import numpy as np
from numpy.typing import NDArray

_HALF = np.uint64(32)


def bucket_of(words: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Returns the number of the bucket of each first word of a hash: `count` equal ranges of 64 bits, up to 2^32."""
    return (((words >> _HALF) * np.uint64(count)) >> _HALF).astype(np.int64)


def in_groups(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns an order of hashes (n, words) in which equal ones stand together, and where each group begins in it.

    Equal ones keep their order; groups ascend by the last word, then by the first ones.
    """
    # The last word alone nearly always tells hashes apart, and sorting one word is several times as fast.
    order = np.argsort(hashes[:, -1], kind="stable")
    differs = _differing(hashes[order])
    last = hashes[order, -1]
    if np.any(differs & (last[1:] == last[:-1])):
        order = np.lexsort([*hashes[:, -2::-1].T, hashes[:, -1]])
        differs = _differing(hashes[order])
    firsts = np.flatnonzero(np.concatenate([[len(hashes) > 0], differs]))
    return order, firsts


def _differing(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    differs: NDArray[np.bool_] = np.any(hashes[1:] != hashes[:-1], axis=1)
    return differs
