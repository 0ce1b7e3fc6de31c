"""Sketches: one bit per bin of one-permutation hashing, and the similarity that their agreement estimates.

A sketch is a row of bits / 8 bytes, the first bin in the lowest bit of the first byte. Bits agree where the bins do,
and by chance in half of the other cases: b-bit minwise hashing with b = 1 (Li and Koenig 2010).
"""

import numpy as np
from numpy.typing import NDArray

Sketches = NDArray[np.uint8]
Words = NDArray[np.uint64]
Agreements = NDArray[np.uint16]

WORD_BITS = 64
MAX_BITS = 1 << 15


def require_bits(bits: int) -> None:
    """Raises `ValueError` unless a sketch can have so many bits."""
    if not (0 < bits <= MAX_BITS and bits % WORD_BITS == 0):
        raise ValueError(f"sketches of {bits} bits; valid: multiples of {WORD_BITS} up to {MAX_BITS}")


def estimate(agree: NDArray[np.integer] | int, bits: int) -> NDArray[np.float64]:
    """Returns the Jaccard similarity estimated from the number of agreeing bits out of `bits`; it may be negative."""
    return np.asarray((2.0 * np.asarray(agree) - bits) / bits, dtype=np.float64)


def least_agreement(threshold: float, bits: int) -> int:
    """Returns the smallest number of agreeing bits out of `bits` whose estimate reaches `threshold`, -1 to 1.

    One more than there are for an infinite threshold, which none reaches.
    """
    if not (-1.0 <= threshold <= 1.0 or threshold == np.inf):
        raise ValueError(f"threshold is {threshold}; valid: -1 to 1, or infinite")
    require_bits(bits)
    return int(np.searchsorted(estimate(np.arange(bits + 1), bits), threshold))


def as_words(sketches: Sketches) -> Words:
    """Returns sketches (n, bits / 8) as contiguous (n, bits / 64) words for `agreeing`; copies only if they are not."""
    require_bits(8 * sketches.shape[1])
    return np.ascontiguousarray(sketches).view(np.uint64)


def agreeing(rows: Words, skip: int, sketches: Words, others: NDArray[np.int64]) -> Agreements:
    """Returns in how many bits (n,) each of `rows` (n, skip + words), after `skip` words, agrees with its other sketch.

    `others` (n,) are the rows of those in `sketches` (m, words). Arrays are contiguous.
    """
    from corpus_assets.dedup.kernels.compare import agreeing as count

    found = np.empty(len(rows), dtype=np.uint16)
    count(rows, skip, sketches, others, found)
    return found
