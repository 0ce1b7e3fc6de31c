"""Limits that the sampled texts suggest, each with its reason."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from corpus_assets.beginning.looking.facts import EMAIL
from corpus_assets.beginning.sources import Section
from corpus_assets.numbers import amount

_THRESHOLDS: Final = (200, 100, 50, 20)
_FEW: Final = 0.1
"""Share of the texts that a limit may cost; one that costs more is only a comment."""
_ENOUGH: Final = 20
"""Texts from which on anything is suggested."""
_ENTRY: Final = "quality"
_ALPHABETIC: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Rule:
    """A rule of the filter: its key, a range, why, and how many of the sampled texts it drops."""

    key: str
    limits: dict[str, Any]
    reason: str
    drops: int
    is_active: bool


def shortest(sections: Sequence[Section]) -> tuple[int, str] | None:
    """Returns the threshold of short documents with its reason; None if the usual one fits."""
    lengths = [length for section in sections if section.reading.is_text for length in section.facts.lengths]
    for threshold in (*_THRESHOLDS, 0):
        dropped = sum(length < threshold for length in lengths)
        if dropped <= _FEW * len(lengths):
            if threshold == _THRESHOLDS[0]:
                return None
            usual = sum(length < _THRESHOLDS[0] for length in lengths) / len(lengths)
            return threshold, f"{usual:.0%} of the sampled texts have fewer than the usual 200 characters"
    return None


def rules_for(sections: Sequence[Section]) -> list[Rule]:
    """Returns rules for what was seen in texts, in the values of the taggers `gopher_v2` and `c4_v2`."""
    texts = [text for section in sections if section.reading.is_text for text in section.facts.texts]
    if len(texts) < _ENOUGH:
        return []
    return [rule for rule in _rules(texts) if rule.drops]


def _rules(texts: Sequence[str]) -> Iterator[Rule]:
    words = [text.split() for text in texts]
    few = sum(len(found) < 10 for found in words)
    yield _rule("gopher_v2.word_count", {"min": 10}, "have fewer than 10 words", few, texts)
    alphabetic = [sum(bool(_ALPHABETIC.search(word)) for word in found) / max(1, len(found)) for found in words]
    numbers = sum(share < 0.5 for share in alphabetic)
    what = "are mostly numbers and signs: fewer than half of their words have a letter"
    yield _rule("gopher_v2.fraction_of_words_with_alpha_character", {"min": 0.5}, what, numbers, texts)
    lorem = sum("lorem ipsum" in text.lower() for text in texts)
    yield _rule("c4_v2.has_lorem_ipsum", {"max": 0}, "hold `lorem ipsum`", lorem, texts)
    again = sum(_repeats(text) for text in texts)
    what = "repeat more than half of their lines"
    yield _rule("gopher_v2.fraction_of_duplicate_lines", {"max": 0.5}, what, again, texts)


def _repeats(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 3 and len(lines) > 2 * len(set(lines))


def _rule(key: str, limits: dict[str, Any], what: str, drops: int, texts: Sequence[str]) -> Rule:
    reason = f"{drops:,} of {amount(len(texts), 'sampled texts')} {what}"
    return Rule(f"{_ENTRY}.{key}", limits, reason, drops, drops <= _FEW * len(texts))


def emails(sections: Sequence[Section]) -> tuple[int, int]:
    """Returns how many of the sampled texts hold an e-mail address, and how many there are."""
    texts = [text for section in sections if section.reading.is_text for text in section.facts.texts]
    return sum(EMAIL.search(text) is not None for text in texts), len(texts)
