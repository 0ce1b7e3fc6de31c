"""Texts cleaned in batches, as UTF-8 bytes in one buffer (docs/formats/slimpajama.md "Cleaning")."""

from collections.abc import Iterator
from functools import cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from resources.documents.slimpajama_cleaning import clean
from resources.formats.texts import Texts, joined

_TABLE = 0x20000
_BLOCK = 0x100
_DROPPED = 0xFFFFFFFF
_SIGMA = "\u03a3"


def clean_batch(texts: Texts) -> Texts:
    """Returns the cleaned texts; lone surrogates, before and after, are three bytes each."""
    cleaned, beyond = _cleaned(texts)
    if not beyond.any():
        return cleaned
    lowered, _ = _cleaned(joined(_lower(texts.of(row)) for row in np.flatnonzero(beyond).tolist()))
    again = map(lowered.of, count())
    return joined(next(again) if found else cleaned.of(row) for row, found in enumerate(beyond.tolist()))


def _cleaned(texts: Texts) -> tuple[Texts, NDArray[np.bool_]]:
    """Returns texts cleaned by the table, and which of them it cannot clean."""
    from corpus_assets.dedup.kernels.cleaning import clean as fill
    from resources.kernels.vectors import RUN

    cleaned = Texts(np.empty(len(texts.characters) + RUN, dtype=np.uint8), np.empty_like(texts.bounds))
    beyond = np.empty(len(texts.bounds) - 1, dtype=np.bool_)
    fill(((texts.characters, texts.bounds), (cleaned.characters, cleaned.bounds)), _classes(), beyond)
    return Texts(cleaned.characters[: cleaned.bounds[-1]], cleaned.bounds), beyond


def _lower(text: bytes) -> bytes:
    return _bytes(text.decode("utf-8", "surrogatepass").lower())


@cache
def _classes() -> NDArray[np.uint32]:
    """Returns a table of cleaned code points below 0x20000, past which none has case; BEYOND is left to `str.lower`.

    The lower case of such a code point has several code points or more bytes; or it is a sigma, which depends on its
    neighbours.
    """
    from corpus_assets.dedup.kernels.cleaning import BEYOND

    table = np.arange(_TABLE, dtype=np.uint32)
    for point in _cleaned_points():
        character = chr(point)
        cleaned = clean(f"a{character}a")[1:-1]
        if not cleaned:
            table[point] = _DROPPED
        elif len(cleaned) == 1 and len(_bytes(cleaned)) <= len(_bytes(character)) and character != _SIGMA:
            table[point] = ord(cleaned)
        else:
            table[point] = BEYOND
    return table


def _cleaned_points() -> Iterator[int]:
    """Yields all code points below 0x20000 that cleaning changes, and others of their blocks."""
    for start in range(0, _TABLE, _BLOCK):
        block = range(start, start + _BLOCK)
        characters = "".join(map(chr, block))
        if clean(characters) != characters:
            yield from block


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
