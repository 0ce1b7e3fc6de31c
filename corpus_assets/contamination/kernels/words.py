"""Words of a text as 64-bit hashes, in one pass over its UTF-8."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.kernels.kinds import ALONE, ANY_NUMBER, BREAK, KIND_SHIFT, LETTER, SEVERAL
from resources.formats.kernels.utf8 import decoded
from resources.kernels.jit import ahead, inlined, kernel, read_only

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
BEGINNING = np.uint64(0x243F6A8885A308D3)
MOST_WORDS = 2
"""Most words per byte: U+FDFA, a phrase of four words, has three bytes."""
_ASCII = 0x80
_KIND_SHIFT, _LOW, _ONE = np.uint32(KIND_SHIFT), np.uint32((1 << KIND_SHIFT) - 1), np.uint32(1)
_NUMBER = np.uint32(ANY_NUMBER)


@ahead(f"{read_only('uint8')}, uint8[::1], int32[::1], uint32[::1]")
@kernel
def hash_words(
    text: NDArray[np.uint8], kinds: NDArray[np.uint8], codes: NDArray[np.int32], sequences: NDArray[np.uint32]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns a hash of each word, and beginnings and ends of words in code points of the text.

    text: UTF-8. kinds, codes, sequences: `folding.Folding`. A word's hash depends on the code points that its
    characters stand for; a run of `ANY_NUMBER` counts as one. Two different words have one hash with a probability of
    about 2^-64.
    """
    room = MOST_WORDS * text.size + 1
    hashes, starts, ends = np.empty(room, np.uint64), np.empty(room, np.uint32), np.empty(room, np.uint32)
    value, start, end, is_open, is_alone = BEGINNING, 0, 0, False, False
    words, position, index, last = 0, 0, 0, np.uint32(0)
    while position < text.size:
        point = int(text[position])
        if point < _ASCII:
            position += 1
        else:
            point, position = decoded(text, position)
        kind, code, left = kinds[point], np.uint32(codes[point]), np.uint32(0)
        place = np.int64(code)
        if kind == SEVERAL:
            left = sequences[place]
        while True:
            if left:
                place += 1
                kind, code = np.uint8(sequences[place] >> _KIND_SHIFT), sequences[place] & _LOW
                left -= _ONE
            if is_open and _ends(kind, is_alone):
                hashes[words], starts[words], ends[words] = value, start, end
                words += 1
                is_open = False
            if kind > BREAK:
                if not is_open:
                    is_open, is_alone, value, start, last = True, kind == ALONE, BEGINNING, index, np.uint32(0)
                if code != _NUMBER or last != _NUMBER:
                    value = (value ^ np.uint64(code)) * MULTIPLIER
                    value ^= value >> SHIFT
                end, last = index + 1, code
            if not left:
                break
        index += 1
    if is_open:
        hashes[words], starts[words], ends[words] = value, start, end
        words += 1
    return hashes[:words].copy(), starts[:words].copy(), ends[:words].copy()


@inlined
def _ends(kind: np.uint8, is_alone: bool) -> bool:
    """Returns whether a code point of a kind ends the word before it.

    is_alone: the word began with a code point of ALONE.
    """
    return bool((kind == BREAK) | (kind == ALONE) | (is_alone & (kind == LETTER)))
