"""What two texts do not have in common, word by word; where lines break does not count."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

Pieces = list[tuple[str, str]]
"""Pieces of a text in order, each with its mark: empty, or `ONLY_HERE`."""

ONLY_HERE = "only here"
_MOST = 1200
"""Words of a text that are compared; what follows counts as different. Comparing takes the square of it at worst."""


def differences(first: str, second: str) -> tuple[Pieces, Pieces]:
    """Returns the pieces of both texts; those that only one of them has are marked."""
    a, b = _words(first), _words(second)
    matcher = SequenceMatcher(None, _bare(a[:_MOST]), _bare(b[:_MOST]), autojunk=False)
    left: Pieces = []
    right: Pieces = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        mark = "" if tag == "equal" else ONLY_HERE
        _add(left, a[i1:i2], mark)
        _add(right, b[j1:j2], mark)
    _add(left, a[_MOST:], ONLY_HERE)
    _add(right, b[_MOST:], ONLY_HERE)
    return left, right


def _words(text: str) -> list[str]:
    """Returns the words of a text, each with the whitespace before it; together they are the text."""
    return re.findall(r"\s*\S+|\s+$", text)


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words]


def _add(pieces: Pieces, words: Sequence[str], mark: str) -> None:
    if words:
        pieces.append(("".join(words), mark))
