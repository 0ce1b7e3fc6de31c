"""The places of a text that may not be in Unicode normalization form C; nearly all texts have few."""

import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from resources.formats.texts import Texts

_PAST = 0x30000
"""No code point past this one combines, or is changed by form C."""

_BLOCK = 0x100

_JAMO = ((0x1161, 0x1176), (0x11A8, 0x11C3))
"""Vowels and final consonants of Hangul, which join the letter before them."""

_MOST = 8
"""Code points of the text per span; a text with more spans is normalized as a whole."""


def unsettled_texts(texts: Texts) -> list[int]:
    """Returns the numbers of the texts that form C may change. Uses the Unicode version of this Python."""
    if texts.characters.max(initial=0) < 0x80:
        return []
    from corpus_assets.normalize.kernels.scan import unsettled_texts as find

    found = np.empty(len(texts.bounds) - 1, dtype=np.uint8)
    find(*texts, *_changed_pairs(), found)
    return np.flatnonzero(found).tolist()


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
    stable, seconds = _composed()
    for point in _decomposed():
        if point not in stable:
            classes[point] = UNSETTLED
    classes[list(seconds)] = UNSETTLED
    return classes


def _decomposed() -> Iterator[int]:
    """Yields the code points with a canonical decomposition, without Hangul."""
    for start in range(0, _PAST, _BLOCK):
        characters = [chr(point) for point in range(start, start + _BLOCK)]
        if not unicodedata.is_normalized("NFD", "".join(characters)):
            for character in characters:
                found = unicodedata.decomposition(character)
                if found and not found.startswith("<"):
                    yield ord(character)


@cache
def _composed() -> tuple[set[int], set[int]]:
    """Returns the code points that form C composes, without Hangul, and the second ones of their decompositions."""
    composed = {point for point in _decomposed() if unicodedata.normalize("NFC", chr(point)) == chr(point)}
    parts = (unicodedata.decomposition(chr(point)).split() for point in composed)
    return composed, {int(second, 16) for _, second in parts}


@cache
def _changed_pairs() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Returns `classes` and `pairs` of the kernel.

    A composed starter counts as a starter: form C may move a mark before its own, and compose the two others.
    """
    from corpus_assets.normalize.kernels.scan import UNSETTLED

    composed, seconds = _composed()
    firsts = {int(unicodedata.decomposition(chr(point)).split()[0], 16) for point in composed}
    starters = sorted(composed | firsts)
    marks = np.full(_PAST, UNSETTLED, dtype=np.uint8)
    pairs = []
    for mark in sorted(mark for mark in seconds if unicodedata.is_normalized("NFC", chr(mark))):
        marks[mark] = unicodedata.combining(chr(mark))
        given = [chr(starter) + chr(mark) for starter in starters]
        formed = unicodedata.normalize("NFC", "\n".join(given)).split("\n")
        changed = zip(starters, given, formed, strict=True)
        pairs += [starter << 32 | mark for starter, before, after in changed if before != after]
    return np.stack([_classes(), marks]), np.array(sorted(pairs), dtype=np.int64)
