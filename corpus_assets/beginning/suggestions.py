"""Limits that the sampled texts suggest, each with its reason."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from corpus_assets.beginning.looking.facts import EMAIL
from corpus_assets.beginning.sources import Section
from corpus_assets.numbers import amount
from resources.hashing import content_digest

USUAL_SHORTEST: Final = 200
"""Characters of `short_documents.threshold` that are usual."""
_THRESHOLDS: Final = (USUAL_SHORTEST, 100, 50, 20, 0)
_FEW: Final = 0.1
"""Share of the texts that a limit may cost; one that costs more is only a comment."""
_MOST_OF_A_SOURCE: Final = 0.5
_ENOUGH: Final = 20
"""Texts from which on anything is suggested."""
_MANY_REPEATS: Final = 0.8
"""Share of repeated texts of a source from which on a build needs to be told that they are meant."""
_ENTRY: Final = "quality"
_ALPHABETIC: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Rule:
    """A rule of the filter: its key, a range, why, and which texts it drops, roughly."""

    key: str
    limits: Mapping[str, Any]
    reason: str
    drops: Callable[[str], bool]
    is_active: bool


@dataclass(frozen=True)
class Left:
    """What a build leaves of the sampled texts of a source. repeats: texts that are there twice, or in a source before.

    lost: how many are left out, by reason.
    """

    texts: int
    kept: int
    repeats: int
    lost: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        """Returns whether texts were seen, and none is left."""
        return self.texts > 0 and not self.kept

    @property
    def is_repeated(self) -> bool:
        """Returns whether most texts are repeats."""
        return self.repeats > _MANY_REPEATS * max(1, self.texts)


def _of_documents(sections: Sequence[Section]) -> list[Section]:
    return [section for section in sections if section.is_document]


def shortest(sections: Sequence[Section]) -> int:
    """Returns the threshold of short documents: it costs few texts, and no source most of its own."""
    found = [section.facts.lengths for section in _of_documents(sections)]
    everything = [length for lengths in found for length in lengths]
    return next(
        threshold
        for threshold in _THRESHOLDS
        if _share_below(everything, threshold) <= _FEW
        and all(_share_below(lengths, threshold) <= _MOST_OF_A_SOURCE for lengths in found)
    )


def _share_below(lengths: Sequence[int], threshold: int) -> float:
    return sum(length < threshold for length in lengths) / max(1, len(lengths))


def share_of_short(sections: Sequence[Section]) -> float:
    """Returns the share of sampled texts under the usual threshold."""
    return _share_below([one for section in _of_documents(sections) for one in section.facts.lengths], USUAL_SHORTEST)


def rules_for(sections: Sequence[Section]) -> list[Rule]:
    """Returns rules for what was seen in texts, in the values of the taggers `gopher_v2` and `c4_v2`."""
    texts = [text for section in _of_documents(sections) for text in section.facts.texts]
    found: list[Rule] = []
    for key, limits, what, drops in _RULES:
        count = sum(map(drops, texts))
        if len(texts) < _ENOUGH or not count:
            continue
        reason = f"{count:,} of {amount(len(texts), 'sampled texts')} {what}"
        spared = all(
            sum(map(drops, section.facts.texts)) <= _MOST_OF_A_SOURCE * len(section.facts.texts)
            for section in _of_documents(sections)
        )
        found.append(Rule(f"{_ENTRY}.{key}", limits, reason, drops, spared and count <= _FEW * len(texts)))
    return found


def _has_few_words(text: str) -> bool:
    return len(text.split()) < 10


def _is_mostly_signs(text: str) -> bool:
    words = text.split()
    return sum(bool(_ALPHABETIC.search(word)) for word in words) < len(words) / 2


def _is_filler(text: str) -> bool:
    return "lorem ipsum" in text.lower()


def _repeats_lines(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 3 and len(lines) > 2 * len(set(lines))


_RULES: Final[Sequence[tuple[str, Mapping[str, Any], str, Callable[[str], bool]]]] = (
    ("gopher_v2.word_count", {"min": 10}, "have fewer than 10 words", _has_few_words),
    (
        "gopher_v2.fraction_of_words_with_alpha_character",
        {"min": 0.5},
        "are mostly numbers and signs: fewer than half of their words have a letter",
        _is_mostly_signs,
    ),
    ("c4_v2.has_lorem_ipsum", {"max": 0}, "hold `lorem ipsum`", _is_filler),
    ("gopher_v2.fraction_of_duplicate_lines", {"max": 0.5}, "repeat more than half of their lines", _repeats_lines),
)


def left_of(sections: Sequence[Section]) -> dict[str, Left]:
    """Returns what a build leaves of the sampled texts of each source, by name."""
    threshold, rules = shortest(sections), [rule for rule in rules_for(sections) if rule.is_active]
    known: set[str] = set()
    return {section.name: _left(section.facts.texts, threshold, rules, known) for section in _of_documents(sections)}


def _left(texts: Sequence[str], threshold: int, rules: Sequence[Rule], known: set[str]) -> Left:
    lost = {"short": 0, "filter": 0, "repeated": 0}
    for text in texts:
        digest = content_digest(" ".join(text.lower().split()).encode("utf-8", "replace"))
        if any(rule.drops(text) for rule in rules):
            lost["filter"] += 1
        elif len(text) < threshold:
            lost["short"] += 1
        elif digest in known:
            lost["repeated"] += 1
        known.add(digest)
    return Left(len(texts), len(texts) - sum(lost.values()), lost["repeated"], {k: v for k, v in lost.items() if v})


def emails(sections: Sequence[Section]) -> tuple[int, int]:
    """Returns how many of the sampled texts hold an e-mail address, and how many there are."""
    texts = [text for section in _of_documents(sections) for text in section.facts.texts]
    return sum(EMAIL.search(text) is not None for text in texts), len(texts)


def repeated(left: Mapping[str, Left]) -> Iterator[str]:
    """Yields in words which sources are mostly repeats."""
    for name, one in left.items():
        if one.is_repeated:
            yield f"{name} ({one.repeats:,} of {one.texts:,})"
