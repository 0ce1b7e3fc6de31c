"""Sketches: one bit per bin of one-permutation hashing, and what their agreement says of similarity.

A sketch is a row of bits / 8 bytes, the first bin in the lowest bit of the first byte. Bits agree where the bins do,
and by chance in half of the other cases: b-bit minwise hashing with b = 1 (Li and Koenig 2010).
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.signatures.one_permutation import one_permutation, rotations, sketch_salt
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.shingles import window_hashes
from resources import jit

Sketches = NDArray[np.uint8]
Words = NDArray[np.uint64]
Agreements = NDArray[np.uint16]

WORD_BITS = 64
MAX_BITS = 1 << 15
_BLOCK_WORDS = 1 << 19


def require_bits(bits: int) -> None:
    """`ValueError` unless a sketch can have so many bits."""
    if not (0 < bits <= MAX_BITS and bits % WORD_BITS == 0):
        raise ValueError(f"sketches of {bits} bits; valid: multiples of {WORD_BITS} up to {MAX_BITS}")


def sketch_batch(
    cleaned: NDArray[np.uint8], bounds: NDArray[np.int64], scheme: SignatureScheme, sketches: Sketches
) -> None:
    """Fill sketches (texts, bits / 8), contiguous and all zeros, of cleaned texts: cleaned[bounds[i]:bounds[i + 1]].

    A bit is the lowest one of a slot of the one-permutation signature of so many bins, over the shingles of `scheme`.
    """
    bits, salt = 8 * sketches.shape[1], sketch_salt(scheme.seed)
    if jit.available():
        from corpus_assets.dedup.kernels.oph import sketch as sketch_texts

        shingling = int(scheme.unit == "word"), scheme.width, np.uint64(salt)
        sketch_texts((cleaned, bounds), shingling, rotations(bits, salt), sketches.view(np.uint64))
        return
    for number, sketch in enumerate(sketches):
        text = cleaned[bounds[number] : bounds[number + 1]]
        hashes = window_hashes(text, scheme.unit, scheme.width, salt)
        if hashes.size:
            sketch[:] = np.packbits(one_permutation(hashes, bits, salt) & np.uint32(1), bitorder="little")


def estimate(agree: NDArray[np.integer] | int, bits: int) -> NDArray[np.float64]:
    """Estimated Jaccard similarity from the number of agreeing bits out of `bits`; under 0 when it is by chance."""
    return np.asarray((2.0 * np.asarray(agree) - bits) / bits, dtype=np.float64)


def least_agreement(threshold: float, bits: int) -> int:
    """Smallest number of agreeing bits out of `bits` whose estimate reaches `threshold`, -1 to 1; estimates can be
    negative, by chance."""
    if not -1.0 <= threshold <= 1.0:
        raise ValueError(f"threshold is {threshold}; valid: -1 to 1")
    require_bits(bits)
    return int(np.searchsorted(estimate(np.arange(bits + 1), bits), threshold))


def as_words(sketches: Sketches) -> Words:
    """Sketches (n, bits / 8) as (n, bits / 64) words, contiguous, for `agreeing`; a copy only if they are not."""
    require_bits(8 * sketches.shape[1])
    return np.ascontiguousarray(sketches).view(np.uint64)


def agreeing(rows: Words, skip: int, sketches: Words, others: NDArray[np.int64]) -> Agreements:
    """Number of bits (n,) in which the sketch in `rows` (n, skip + words), after `skip`, agrees with `others[i]`.

    `others` (n,) are rows of `sketches` (m, words). Arrays are contiguous.
    """
    found = np.empty(len(rows), dtype=np.uint16)
    if jit.available():
        from corpus_assets.dedup.kernels.compare import agreeing as count

        count(rows, skip, sketches, others, found)
        return found
    step = max(_BLOCK_WORDS // sketches.shape[1], 1)
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        same = ~(rows[block, skip:] ^ sketches[others[block]])
        np.bitwise_count(same).sum(axis=1, dtype=np.uint16, out=found[block])
    return found
