"""One-permutation hashing: signatures, and sketches of their lowest bits (definition: one_permutation.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.constants import LARGEST, NO_SHINGLE
from corpus_assets.dedup.kernels.polynomial import begin, mix64, slide
from corpus_assets.dedup.kernels.template import without
from resources.kernels.jit import ahead, helper, inlined, kernel

U32 = np.uint32
U64 = np.uint64
Texts = tuple[NDArray[np.uint8], NDArray[np.int64]]
"""Concatenated texts, and the starts of each and the end of the last: (documents + 1,)."""
Shingling = tuple[int, int, U64, U64]
"""1 for words or 0 for code points, the width, and the salts of signatures and of sketches."""

_STEP = 1024
_EMPTY = U32(NO_SHINGLE)
_LARGEST = U64(LARGEST)
_HALF = U64(32)
_LOW = U64(0xFFFFFFFF)
_ONE = U64(1)


@ahead(
    "Tuple((uint8[::1], int64[::1])), Tuple((int64, int64, uint64, uint64)), "
    "Tuple((int64[::1], int64[::1], uint64[::1])), uint32[:, ::1], uint64[:, ::1]"
)
@kernel
def sign_and_sketch(
    texts: Texts,
    shingling: Shingling,
    tables: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[U64]],
    signatures: NDArray[U32],
    sketches: NDArray[U64],
) -> None:
    """Fills signatures (documents, bins), all NO_SHINGLE before, and sketches (documents, bins / 64), all zeros before.

    A sketch holds the lowest bits of a second signature. Both have their own salt, number of bins and rotations, and
    share the pass over the text; outputs without columns cost nothing. `tables`: both rotations, and shingles to leave
    out (`template.fill`), or none. A document with no other shingle is taken as a whole.
    """
    text, bounds = texts
    by_word, width, salt, sketch_salt = shingling
    words = sketches.shape[1]
    values = np.empty(_STEP, dtype=U64)
    hashes = np.empty(_STEP, dtype=U64)
    before = np.empty(signatures.shape[1], dtype=U32)
    bins = np.empty(64 * words, dtype=U32)
    # Two copies and one word more, so that rotations need no modulo.
    taken = np.empty(2 * words + 1, dtype=U64)
    lowest = np.empty(2 * words + 1, dtype=U64)
    filled = np.empty(words, dtype=U64)
    for document in range(bounds.size - 1):
        stop = bounds[document + 1]
        signature = signatures[document]
        bins[:] = _EMPTY
        window = begin(text, bounds[document], stop, by_word, width)
        if window[3] > stop:
            continue
        kept = 0
        for attempt in range(2):
            while window[3] <= stop:
                count, window = slide(text, stop, by_word, window, values)
                if tables[2].size and attempt == 0:
                    count = without(values, count, tables[2])
                kept += count
                _lower(values, count, salt, hashes, signature)
                _lower(values, count, sketch_salt, hashes, bins)
            if kept > 0:
                break
            window = begin(text, bounds[document], stop, by_word, width)
        if before.size:
            for place in range(before.size):
                before[place] = signature[place]
            _densify(before, tables[0], signature)
        if words:
            _pack(bins, taken, lowest)
            for word in range(words):
                filled[word] = taken[word]
                sketches[document, word] = lowest[word]
            _densify_bits(taken, lowest, tables[1], filled, sketches[document])


@helper
def _lower(values: NDArray[U64], count: int, salt: U64, hashes: NDArray[U64], bins: NDArray[U32]) -> None:
    """Lowers each of `bins`, if there are any, to the smallest salted hash of the first values that falls into it.

    `hashes` is scratch.
    """
    size = U64(bins.size)
    if size == 0:
        return
    for i in range(count):
        hashes[i] = mix64(values[i] ^ salt)
    for i in range(count):
        place = ((hashes[i] >> _HALF) * size) >> _HALF
        bins[place] = min(bins[place], U32(min(hashes[i] & _LOW, _LARGEST)))


@helper
def _densify(before: NDArray[U32], rotations: NDArray[np.int64], signature: NDArray[U32]) -> None:
    for place in range(before.size):
        source = place
        attempt = 0
        while before[source] == _EMPTY:
            source = place + rotations[attempt]
            source -= before.size if source >= before.size else 0
            attempt += 1
        signature[place] = before[source]


@helper
def _pack(bins: NDArray[U32], taken: NDArray[U64], lowest: NDArray[U64]) -> None:
    """Writes as words which bins have a value, and their lowest bits: two copies, and the first word again."""
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


@helper
def _densify_bits(
    taken: NDArray[U64],
    lowest: NDArray[U64],
    rotations: NDArray[np.int64],
    filled: NDArray[U64],
    sketch: NDArray[U64],
) -> None:
    """Gives each bin that is not `filled` the bit of the first taken one; `taken` and `lowest` come from `_pack`."""
    attempt = 0
    while not _full(filled):
        ahead, shift = rotations[attempt] >> 6, U64(rotations[attempt] & 63)
        attempt += 1
        # Slices, so that no index can be negative and the loop is vectorised.
        has, after = taken[ahead:], taken[ahead + 1 :]
        bit, bit_after = lowest[ahead:], lowest[ahead + 1 :]
        for word in range(filled.size):
            sketch[word] |= _shifted(bit[word], bit_after[word], shift) & ~filled[word]
            filled[word] |= _shifted(has[word], after[word], shift)


@inlined
def _shifted(low: U64, high: U64, shift: U64) -> U64:
    """Returns the 64 bits of two words that start at bit `shift`."""
    # In two steps, since a word cannot be shifted by 64 bits.
    return (low >> shift) | ((high << _ONE) << (U64(63) - shift))


@inlined
def _full(filled: NDArray[U64]) -> bool:
    missing = U64(0)
    for word in range(filled.size):
        missing |= ~filled[word]
    return bool(missing == U64(0))
