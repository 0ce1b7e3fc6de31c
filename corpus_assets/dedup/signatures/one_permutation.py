"""One-permutation hashing with optimal densification (Shrivastava, ICML 2017), as array operations."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import LARGEST, MULTIPLIER, NO_SHINGLE
from corpus_assets.dedup.signatures.shingles import mix64

_HALF = np.uint64(32)
_SKETCH = 0xC2B2AE3D27D4EB4F


def salt_of(seed: int) -> int:
    """The number that makes the hashes of one seed independent of those of another."""
    return _mixed(seed * MULTIPLIER)


def sketch_salt(seed: int) -> int:
    """As `salt_of`, for sketches: candidates that a signature chose are not judged by the same hashes."""
    return _mixed(salt_of(seed) ^ _SKETCH)


def one_permutation(hashes: NDArray[np.uint64], bins: int, salt: int) -> NDArray[np.uint32]:
    """Signature (bins,) of a set of salted 64-bit hashes: their high half says the bin, the low half is the value.

    Every bin has the smallest value in it. An empty one copies the first bin that is not, of those which lie
    `rotations(bins, salt)` places after it. The two sides of a comparison thus look at the same places in the same
    order, and the share of equal slots estimates Jaccard similarity without bias. All NO_SHINGLE when there are no
    hashes.
    """
    signature = np.full(bins, NO_SHINGLE, dtype=np.uint32)
    values = np.minimum(hashes & np.uint64(NO_SHINGLE), np.uint64(LARGEST)).astype(np.uint32)
    places = ((hashes >> _HALF) * np.uint64(bins) >> _HALF).astype(np.intp)
    np.minimum.at(signature, places, values)
    empty = signature == NO_SHINGLE
    waiting = np.flatnonzero(empty)
    for rotation in rotations(bins, salt) if hashes.size else ():
        sources = (waiting + rotation) % bins
        found = ~empty[sources]
        signature[waiting[found]] = signature[sources[found]]
        waiting = waiting[~found]
        if not waiting.size:
            break
    return signature


@lru_cache
def rotations(bins: int, salt: int) -> NDArray[np.int64]:
    """Where an empty bin looks for a value, attempt by attempt: 1 to bins - 1 in random order.

    The same for all bins, so that an attempt moves whole words of them, and without repeats, so that the last attempt
    finds what there is.
    """
    steps = np.arange(1, bins, dtype=np.uint64)
    return np.argsort(mix64(steps * np.uint64(MULTIPLIER) ^ np.uint64(salt)), kind="stable") + 1


def _mixed(number: int) -> int:
    return int(mix64(np.array([number % (1 << 64)], dtype=np.uint64))[0])
