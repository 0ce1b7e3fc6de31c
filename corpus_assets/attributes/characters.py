"""Properties of all code points in one table of bits, computed when the first text is tagged."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.flags import (
    ALPHABETIC,
    ALPHANUMERIC,
    DIGIT,
    PICTURE_OR_PUNCTUATION,
    SPACE,
    UNICODE_SPACE,
    WORD,
)
from resources.documents.tagger import Text

CODE_POINTS = 0x110000
LONG = 1 << 23
"""Code points from which on kernels get a text in as few bytes as it needs: 1, 2 or 4 for each of them.

They are compiled ahead for 4 bytes, and for fewer when the first long text comes.
"""
_PATTERNS = {
    WORD: r"\w+",
    UNICODE_SPACE: r"\s+",
    PICTURE_OR_PUNCTUATION: r"(?:[[:punct:]]|\s|[\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\u2600-\u27bf])+",
}
_TESTS: dict[int, Callable[..., NDArray[np.bool_]]] = {
    SPACE: np.strings.isspace,
    ALPHABETIC: np.strings.isalpha,
    ALPHANUMERIC: np.strings.isalnum,
    DIGIT: np.strings.isdecimal,
}


@cache
def character_flags() -> NDArray[np.uint8]:
    """Returns the bits of `kernels/flags.py` for every code point (1114112,).

    Taken from Python's tables where the original uses `str` and `re`, and from the library `regex` where it uses that.
    """
    import regex  # Imported late: it loads slowly, and plans need no table.

    points = np.arange(CODE_POINTS, dtype=np.uint32)
    flags = np.zeros(CODE_POINTS, dtype=np.uint8)
    for bit, test in _TESTS.items():
        flags[test(points.view("U1"))] |= bit
    every = points.tobytes().decode("utf-32-le", "surrogatepass")
    for bit, pattern in _PATTERNS.items():
        for match in regex.finditer(pattern, every):
            flags[match.start() : match.end()] |= bit
    return flags


LONG = 1 << 23
"""Code points from which on a text is given to kernels in as few bytes as they need: 1, 2 or 4 for each of them.

The kernels are compiled for 4, and once more for the others when the first long text comes.
"""


def code_points(string: str) -> NDArray[np.uint32]:
    """Returns the code points of a text; those of a long one as a narrower type if they fit it."""
    narrow = _narrow(string) if len(string) >= LONG else None
    return np.frombuffer(string.encode("utf-32-le", "surrogatepass"), dtype=np.uint32) if narrow is None else narrow


def _narrow(string: str) -> Any:
    """Returns the code points in one or two bytes each; None if some need more."""
    with suppress(UnicodeEncodeError):
        return np.frombuffer(string.encode("latin-1"), dtype=np.uint8)
    encoded = string.encode("utf-16-le", "surrogatepass")
    return np.frombuffer(encoded, dtype=np.uint16) if len(encoded) == 2 * len(string) else None


def codes(text: Text) -> NDArray[np.uint32]:
    """Returns the code points of a document's text."""
    return code_points(text.string)
