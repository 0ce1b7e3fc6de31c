"""One-permutation hashing: signatures, and sketches of their lowest bits (definition: one_permutation.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import LARGEST, NO_SHINGLE
from corpus_assets.dedup.kernels.polynomial import begin, mix, slide
from resources.jit import ahead, inlined, kernel

U32 = np.uint32
U64 = np.uint64
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Texts that lie one after the other, and where each starts and the last ends: (documents + 1,)."""
Shingling = tuple[int, int, U64]
"""1 for words or 0 for code points, the width, and the salt of the hashes."""

_STEP = 1024
_EMPTY = U32(NO_SHINGLE)
_LARGEST = U64(LARGEST)
_HALF = U64(32)
_LOW = U64(0xFFFFFFFF)
_ONE = U64(1)


@ahead("Tuple((uint8[::1], int64[::1])), Tuple((int64, int64, uint64)), int64[::1], uint32[:, ::1]")
@kernel
def sign(texts: Texts, shingling: Shingling, rotations: NDArray[np.int64], signatures: NDArray[U32]) -> None:
    """Fills signatures (documents, bins), all NO_SHINGLE before."""
    text, bounds = texts
    values = np.empty(_STEP, dtype=U64)
    before = np.empty(signatures.shape[1], dtype=U32)
    for document in range(bounds.size - 1):
        signature = signatures[document]
        if _lower(text, (bounds[document], bounds[document + 1]), shingling, values, signature):
            for place in range(before.size):
                before[place] = signature[place]
            _densify(before, rotations, signature)


@ahead("Tuple((uint8[::1], int64[::1])), Tuple((int64, int64, uint64)), int64[::1], uint64[:, ::1]")
@kernel
def sketch(texts: Texts, shingling: Shingling, rotations: NDArray[np.int64], sketches: NDArray[U64]) -> None:
    """Fills sketches (documents, bins / 64), all zeros before, with the lowest bits of what `sign` would give."""
    text, bounds = texts
    words = sketches.shape[1]
    values = np.empty(_STEP, dtype=U64)
    bins = np.empty(64 * words, dtype=U32)
    # Twice in a row and one more, so that rotated words need no remainder.
    taken = np.empty(2 * words + 1, dtype=U64)
    lowest = np.empty(2 * words + 1, dtype=U64)
    filled = np.empty(words, dtype=U64)
    for document in range(bounds.size - 1):
        bins[:] = _EMPTY
        if _lower(text, (bounds[document], bounds[document + 1]), shingling, values, bins):
            _pack(bins, taken, lowest)
            for word in range(words):
                filled[word] = taken[word]
                sketches[document, word] = lowest[word]
            _densify_bits(taken, lowest, rotations, filled, sketches[document])


@kernel
def _lower(
    text: NDArray[np.uint8],
    span: tuple[int, int],
    shingling: Shingling,
    values: NDArray[U64],
    bins: NDArray[U32],
) -> bool:
    """Lowers each of `bins` to the smallest value in it; returns whether there was a shingle. `values` is scratch."""
    by_word, width, salt = shingling
    start, stop = span
    size = U64(bins.size)
    window = begin(text, start, stop, by_word, width)
    if window[3] > stop:
        return False
    while window[3] <= stop:
        count, window = slide(text, stop, by_word, window, values)
        mix(values, count, salt)
        for i in range(count):
            place = ((values[i] >> _HALF) * size) >> _HALF
            bins[place] = min(bins[place], U32(min(values[i] & _LOW, _LARGEST)))
    return True


@kernel
def _densify(before: NDArray[U32], rotations: NDArray[np.int64], signature: NDArray[U32]) -> None:
    for place in range(before.size):
        source = place
        attempt = 0
        while before[source] == _EMPTY:
            source = place + rotations[attempt]
            source -= before.size if source >= before.size else 0
            attempt += 1
        signature[place] = before[source]


@kernel
def _pack(bins: NDArray[U32], taken: NDArray[U64], lowest: NDArray[U64]) -> None:
    """Writes which bins have a value, and the lowest bits of those, as words: twice, and the first word once more."""
    words = bins.size // 64
    for word in range(words):
        has, bits = U64(0), U64(0)
        for bit in range(64):
            value = bins[64 * word + bit]
            is_taken = U64(value != _EMPTY)
            has |= is_taken << U64(bit)
            bits |= (U64(value) & is_taken) << U64(bit)
        taken[word] = taken[word + words] = has
        lowest[word] = lowest[word + words] = bits
    taken[2 * words] = taken[0]
    lowest[2 * words] = lowest[0]


@kernel
def _densify_bits(
    taken: NDArray[U64],
    lowest: NDArray[U64],
    rotations: NDArray[np.int64],
    filled: NDArray[U64],
    sketch: NDArray[U64],
) -> None:
    """Gives each bin that is not `filled` the bit of the first taken one; `_pack` made `taken` and `lowest`."""
    attempt = 0
    while not _full(filled):
        ahead, shift = rotations[attempt] >> 6, U64(rotations[attempt] & 63)
        attempt += 1
        # Slices, so that no index can be negative and the loop is one of vectors.
        has, after = taken[ahead:], taken[ahead + 1 :]
        bit, bit_after = lowest[ahead:], lowest[ahead + 1 :]
        for word in range(filled.size):
            sketch[word] |= _shifted(bit[word], bit_after[word], shift) & ~filled[word]
            filled[word] |= _shifted(has[word], after[word], shift)


@inlined
def _shifted(low: U64, high: U64, shift: U64) -> U64:
    """Returns the 64 bits of two words that start at bit `shift`."""
    # In two steps, since a word cannot be shifted by 64 places.
    return (low >> shift) | ((high << _ONE) << (U64(63) - shift))


@inlined
def _full(filled: NDArray[U64]) -> bool:
    missing = U64(0)
    for word in range(filled.size):
        missing |= ~filled[word]
    return bool(missing == U64(0))
