"""The places of a text that may not be in Unicode normalization form C; nearly all texts have few."""

import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

_PAST = 0x30000
"""No code point past this one combines, or is changed by form C."""

_BLOCK = 0x100

_JAMO = ((0x1161, 0x1176), (0x11A8, 0x11C3))
"""Vowels and final consonants of Hangul, which join the letter before them."""

_MOST = 8
"""Code points of the text per span; a text with more spans is normalized as a whole."""


def unsettled(text: str) -> list[list[int]] | None:
    """Returns spans [start, end] of code points; each can be normalized by itself, and the text between them stays.

    None if there are very many. Uses the Unicode version of this Python.
    """
    from corpus_assets.normalize.kernels.scan import unsettled as find

    encoded = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    spans = np.empty((len(text) // _MOST + 1, 2), dtype=np.int64)
    count = find(encoded, _classes(), spans)
    return None if count < 0 else spans[:count].tolist()


@cache
def _classes() -> NDArray[np.uint8]:
    """Returns the combining class of each code point below 0x30000, or UNSETTLED if form C may change it."""
    from corpus_assets.normalize.kernels.scan import UNSETTLED

    classes = np.fromiter(map(unicodedata.combining, map(chr, range(_PAST))), dtype=np.uint8, count=_PAST)
    for start, stop in _JAMO:
        classes[start:stop] = UNSETTLED
    for character in _decomposed():
        if unicodedata.normalize("NFC", character) != character:
            classes[ord(character)] = UNSETTLED
        else:
            classes[int(unicodedata.decomposition(character).split()[1], 16)] = UNSETTLED
    return classes


def _decomposed() -> Iterator[str]:
    """Yields the characters with a canonical decomposition, without Hangul; a block without one is passed over."""
    for start in range(0, _PAST, _BLOCK):
        characters = [chr(point) for point in range(start, start + _BLOCK)]
        if not unicodedata.is_normalized("NFD", "".join(characters)):
            for character in characters:
                found = unicodedata.decomposition(character)
                if found and not found.startswith("<"):
                    yield character
