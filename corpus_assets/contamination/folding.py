"""The folding of every code point for the search: the letters that it stands for, and whether it ends a word.

Texts are compared without letter case, punctuation and kinds of whitespace, as in GPT-3 (Brown et al. 2020, appendix C:
"a gram as a lowercase, whitespace delimited word with no punctuation"). Letters are compared by the compatibility
caseless match of the Unicode Standard (section 3.13, D146), code point by code point, so that composed and decomposed,
full-width and ligature forms are equal too.
"""

from functools import cache
from typing import Any, NamedTuple
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.kernels.kinds import (
    ALONE,
    ANY_NUMBER,
    BREAK,
    IGNORED,
    KIND_SHIFT,
    LETTER,
    MARK,
    SEVERAL,
)

FOLDING = 1
"""Version of these rules: raise it in the commit that changes the definition of a word."""

CODE_POINTS = 0x110000
WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # radicals
    (0x3005, 0x3007),
    (0x3021, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
"""Code points of scripts that put no spaces between words."""


class Folding(NamedTuple):
    """The tables of kernels by code point.

    kinds: (1114112,) uint8.
    codes: (1114112,) int32, the code point that one stands for; for SEVERAL the position in `sequences`.
    sequences: uint32; the number of code points, followed by these, each with its kind above bit 24.
    """

    kinds: NDArray[np.uint8]
    codes: NDArray[np.int32]
    sequences: NDArray[np.uint32]


_SEPARATOR = "\0"
"""A character that no normalization form or case folding changes or joins to another."""


@cache
def folding(punctuation: str, numbers: str = "compared") -> Folding:
    """Returns the tables of all code points. punctuation: `removed` or `separates`. numbers: `compared` or `equal`.

    Letters, marks and numbers stand for their folding by D146, everything else for itself.
    """
    groups = _groups()
    own = _own_kinds(groups, punctuation)
    kinds, codes = own.copy(), np.arange(CODE_POINTS, dtype=np.int32)
    kept = np.flatnonzero(np.isin(groups, np.frombuffer(b"LMN", dtype=np.uint8)))
    forms = _SEPARATOR.join(map(chr, kept.tolist()))
    forms = normalize("NFKD", normalize("NFD", forms).casefold())
    forms = normalize("NFKD", forms.casefold())
    sequences: list[int] = []
    for point, form in zip(kept.tolist(), forms.split(_SEPARATOR), strict=True):
        if len(form) == 1:
            kinds[point], codes[point] = own[ord(form)], ord(form)
        else:
            kinds[point], codes[point] = SEVERAL, len(sequences)
            sequences += [len(form), *(int(own[ord(letter)]) << KIND_SHIFT | ord(letter) for letter in form)]
    folded = np.array(sequences, dtype=np.uint32)
    if numbers == "equal":
        single = kinds != SEVERAL
        codes[single & _is_digit(codes)] = ANY_NUMBER
        kinds_of, letters = np.divmod(folded, np.uint32(1 << KIND_SHIFT))
        # A count of code points is less than any digit.
        folded = np.where(_is_digit(letters), kinds_of << np.uint32(KIND_SHIFT) | np.uint32(ANY_NUMBER), folded)
    return Folding(kinds, codes, folded)


def _is_digit(codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns which code points are decimal digits (general category Nd)."""
    digits = np.array([category(chr(point)) == "Nd" for point in range(CODE_POINTS)])
    return np.asarray(digits[codes], dtype=np.bool_)


@cache
def _groups() -> NDArray[np.uint8]:
    """Returns the first letter of the general category of every code point."""
    every = "".join(category(chr(point))[0] for point in range(CODE_POINTS))
    return np.frombuffer(every.encode(), dtype=np.uint8)


def _own_kinds(groups: NDArray[np.uint8], punctuation: str) -> NDArray[np.uint8]:
    """Returns the kind of each code point that stands for itself."""
    kinds = np.full(CODE_POINTS, IGNORED, dtype=np.uint8)
    is_letter = np.isin(groups, np.frombuffer(b"LN", dtype=np.uint8))
    kinds[is_letter] = LETTER
    for first, last in WITHOUT_SPACES:
        kinds[first : last + 1][is_letter[first : last + 1]] = ALONE
    kinds[groups == ord("M")] = MARK
    if punctuation == "separates":
        kinds[np.isin(groups, np.frombuffer(b"PS", dtype=np.uint8))] = BREAK
    kinds[np.strings.isspace(np.arange(CODE_POINTS, dtype=np.uint32).view("U1"))] = BREAK
    return kinds
