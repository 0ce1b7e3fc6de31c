"""Counts the pieces of OLMo's pre-tokenizer in one pass.

Punctuation marks and digits are separate pieces, with one space before them. The rest is cut like GPT-2 does: `
?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`, without its contractions, as an apostrophe is punctuation.
"""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import ALONE, CODES, WHITESPACE
from resources.kernels.jit import ahead, inlined, kernel

_SPACE = 32


@ahead(f"{CODES}, uint8[::1], int64[::1], int64[::1]")
@kernel
def count_olmo_pieces(
    codes: NDArray[np.uint32], kinds: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Returns the number of pieces of each part of the text. kinds: one of the kinds above for every code point."""
    counts = np.zeros(starts.size, dtype=np.int64)
    for part in range(starts.size):
        place, end = starts[part], ends[part]
        while place < end:
            kind = kinds[codes[place]]
            counts[part] += 1
            if kind == WHITESPACE:
                place = _behind_whitespace(codes, kinds, place, end)
            elif kind == ALONE:
                place += 1
            else:
                while place < end and kinds[codes[place]] == kind:
                    place += 1
    return counts


@inlined
def _behind_whitespace(codes: NDArray[np.uint32], kinds: NDArray[np.uint8], place: int, end: int) -> int:
    """Returns the end of the piece that begins with whitespace."""
    stop = place
    while stop < end and kinds[codes[stop]] == WHITESPACE:
        stop += 1
    if stop == end:
        return stop
    last_is_space = codes[stop - 1] == _SPACE
    kind = kinds[codes[stop]]
    if stop - place > 1:  # The last space belongs to the next piece, unless that is a mark that takes no whitespace.
        return stop if kind == ALONE and not last_is_space else stop - 1
    if not last_is_space:
        return stop
    if kind == ALONE:
        return stop + 1
    while stop < end and kinds[codes[stop]] == kind:
        stop += 1
    return stop
