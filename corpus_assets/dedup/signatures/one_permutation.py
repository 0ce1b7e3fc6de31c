"""One-permutation hashing with optimal densification (Shrivastava, ICML 2017): its definition, salts and rotations.

The high half of a salted 64-bit hash gives the bin, the low half the value; a bin holds its smallest value. An empty
bin copies the first nonempty bin at a distance of `rotations(bins, salt)`, tried in order. Thus both sides of a
comparison try the same bins in the same order, and the share of equal slots is an unbiased estimate of Jaccard
similarity. A text without a shingle has NO_SHINGLE in every bin. Code: kernels/oph.py.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import MIX, MULTIPLIER

_SKETCH = 0xC2B2AE3D27D4EB4F


def salt_of(seed: int) -> int:
    """Returns the salt that makes the hashes of one seed independent of those of another."""
    return _mixed(seed * MULTIPLIER)


def sketch_salt(seed: int) -> int:
    """Returns the salt of sketches, unlike `salt_of`: the hashes that chose candidates must not check them."""
    return _mixed(salt_of(seed) ^ _SKETCH)


@lru_cache
def rotations(bins: int, salt: int) -> NDArray[np.int64]:
    """Returns the distances at which an empty bin looks for a value, attempt by attempt: 1 to bins - 1 in random order.

    They are the same for all bins, so that an attempt moves whole words of bins, and do not repeat, so that the
    attempts cover all bins.
    """
    steps = np.arange(1, bins, dtype=np.uint64)
    return np.argsort(mix64(steps * np.uint64(MULTIPLIER) ^ np.uint64(salt)), kind="stable") + 1


def mix64(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Applies a bijection of 64-bit integers in which every input bit affects every output bit."""
    half = np.uint64(32)
    values = (values ^ (values >> half)) * np.uint64(MIX)
    values = (values ^ (values >> half)) * np.uint64(MIX)
    return values ^ (values >> half)


def _mixed(number: int) -> int:
    return int(mix64(np.array([number % (1 << 64)], dtype=np.uint64))[0])
