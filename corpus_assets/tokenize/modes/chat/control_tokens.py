"""Finds control tokens in texts."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

MOST_SHORT, LONGEST_SHORT = 1024, 256
"""Short texts whose control tokens are remembered: how many, and their characters."""


class ControlTokens:
    """Finds control tokens as the tokenizers library does: leftmost, and of those the longest."""

    def __init__(self, tokens: Mapping[str, int]) -> None:
        self.ids = tokens
        longest_first = sorted(filter(None, tokens), key=len, reverse=True)
        self._pattern = pattern = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._in_short = lru_cache(MOST_SHORT)(lambda text: tuple(match.span() for match in pattern.finditer(text)))

    def find(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yields (start, stop) of the control tokens that lie in text[start:stop]."""
        return (match.span() for match in self._pattern.finditer(text, start, stop))

    def find_again(self, text: str) -> tuple[tuple[int, int], ...]:
        """Returns (start, stop) of those in a text that was probably asked for before, as a template writes it."""
        return self._in_short(text) if len(text) <= LONGEST_SHORT else tuple(self.find(text, 0, len(text)))

    def spelled_in(self, text: str) -> bool:
        """True if the text spells one."""
        return self._pattern.search(text) is not None
