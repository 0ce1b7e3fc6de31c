"""Finds control tokens in texts."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

MOST_SHORT, LONGEST_SHORT = 1024, 256
"""Short texts whose control tokens are remembered: how many, and their characters."""
_SPACE: Final = re.compile(r"[^\S\x1c-\x1f]*")
"""White space of Unicode, as the tokenizers library has it."""


class ControlTokens:
    """Finds control tokens as the tokenizers library does: leftmost, and of those the longest.

    strips: whether the white space before and after a token goes with it, for those with which some goes.
    """

    def __init__(self, tokens: Mapping[str, int], strips: Mapping[str, tuple[bool, bool]] | None = None) -> None:
        self.ids = tokens
        self._strips = strips or {}
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._in_short = lru_cache(MOST_SHORT)(lambda text: tuple(match.span() for match in pattern.finditer(text)))

    def find(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yields (start, stop) of the control tokens that lie in text[start:stop]."""
        return (match.span() for match in self._pattern.finditer(text, start, stop))

    def find_again(self, text: str) -> tuple[tuple[int, int], ...]:
        """Returns (start, stop) of those in a text that was probably asked for before, as a template writes it."""
        return self._in_short(text) if len(text) <= LONGEST_SHORT else tuple(self.find(text, 0, len(text)))

    def with_spaces(self, text: str, start: int, stop: int) -> tuple[int, int]:
        """Returns (start, stop) of the token text[start:stop] and the white space beside it that goes with it."""
        before, after = self._strips.get(text[start:stop], (False, False))
        while before and start and _SPACE.fullmatch(text, start - 1, start):
            start -= 1
        found = _SPACE.match(text, stop) if after else None
        return start, found.end() if found else stop

    def spelled_in(self, text: str) -> bool:
        """True if the text spells one."""
        return self._pattern.search(text) is not None
