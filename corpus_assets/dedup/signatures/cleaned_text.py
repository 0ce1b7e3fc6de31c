"""Texts cleaned in batches, as UTF-8 bytes in one buffer (docs/formats/slimpajama.md "Cleaning")."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from resources.slimpajama_cleaning import clean

_TABLE = 0x20000
_DROPPED = 0xFFFFFFFF
_SIGMA = "\u03a3"


def clean_batch(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Returns the cleaned texts as UTF-8, one after the other, and where each starts and the last ends: (texts + 1,).

    Lone surrogates are three bytes each. Works in a buffer as long as the encoded texts.
    """
    from corpus_assets.dedup.kernels.cleaning import clean_in_place

    encoded = [_bytes(_lowered(text)) for text in texts]
    buffer = np.frombuffer(bytearray().join(encoded), dtype=np.uint8)
    bounds = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in encoded], out=bounds[1:])
    classes, _ = _classes()
    clean_in_place(buffer, bounds, classes)
    return buffer[: bounds[-1]], bounds


def _lowered(text: str) -> str:
    """Returns `text`, in lower case if it has a code point that the table cannot lower."""
    if text.isascii():
        return text
    _, beyond = _classes()
    return text.lower() if any(character in text for character in beyond) else text


@cache
def _classes() -> tuple[NDArray[np.uint32], str]:
    """Returns a table of cleaned code points below 0x20000, past which none has case, and those left to `str.lower`.

    The latter turn into several code points or more bytes; and sigma depends on its neighbours.
    """
    table = np.arange(_TABLE, dtype=np.uint32)
    beyond = [_SIGMA]
    for point in range(_TABLE):
        character = chr(point)
        cleaned = clean(f"a{character}a")[1:-1]
        if not cleaned:
            table[point] = _DROPPED
        elif len(cleaned) == 1 and len(_bytes(cleaned)) <= len(_bytes(character)):
            table[point] = ord(cleaned)
        else:
            beyond.append(character)
    return table, "".join(beyond)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
