"""Words and sentences by the rules of spaCy's tokenizers, without its documents.

The rules look at what stands between whitespace, piece by piece. So the words of a piece are kept, and most pieces of a
text are looked up. Source: spaCy 3.8, `Tokenizer.__call__`, `Sentencizer.predict`.
"""

import re
import unicodedata
from functools import cache
from typing import Any

_MOST_KEPT = 1 << 17
_LONGEST_KEPT = 64
_RUNS = re.compile(r"\s+|\S+")
OTHER, PUNCTUATION, END = 0, 1, 2
"""What sentences look at in a word: neither, only punctuation, a mark that ends a sentence."""


class SpacyRules:
    """The tokenizer of a language without a model: rules for prefixes, suffixes and exceptions."""

    def __init__(self, language: str) -> None:
        import spacy

        self._tokenize: Any = spacy.blank(language).tokenizer
        self._ends: frozenset[str] = frozenset(spacy.blank(language).add_pipe("sentencizer").punct_chars)
        self._kept: dict[str, tuple[str, ...]] = {}
        spaced = sorted(rule for rule in self._tokenize.rules if len(rule.split()) > 1)
        self._spaced = re.compile("|".join(map(re.escape, spaced))) if spaced else None

    def words(self, string: str) -> list[str]:
        """Returns the words of a text; whitespace is none."""
        if self._spaced and self._spaced.search(string):
            return [found for word in self._tokenize(string) if (found := word.text.strip())]
        return [word for piece in string.split() for word in self._of_piece(piece)]

    def sentences(self, string: str) -> int:
        """Returns the number of sentences of a text; 1 for an empty one.

        A sentence begins with the first word behind a mark that is neither such a mark nor punctuation. Whitespace is
        such a word, without the one space that belongs to the word before it.
        """
        found, ended, first = 1, False, True
        for match in _RUNS.finditer(string):
            run = match[0]
            if run.isspace():
                kinds = [OTHER] if first or run != " " else []
            else:
                kinds = [self._kind(word) for word in self._of_piece(run)]
            first = False
            for kind in kinds:
                if ended and kind == OTHER:
                    found, ended = found + 1, False
                elif kind == END:
                    ended = True
        return found

    def _kind(self, word: str) -> int:
        if word in self._ends:
            return END
        return PUNCTUATION if all(unicodedata.category(character)[0] == "P" for character in word) else OTHER

    def _of_piece(self, piece: str) -> tuple[str, ...]:
        known = self._kept.get(piece)
        if known is not None:
            return known
        found = tuple(word.text for word in self._tokenize(piece))
        if len(piece) <= _LONGEST_KEPT:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[piece] = found
        return found


@cache
def spacy_rules(language: str) -> SpacyRules:
    """Returns the rules of a language by spaCy's code for it."""
    return SpacyRules(language)
