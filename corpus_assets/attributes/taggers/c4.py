"""C4's rules (Raffel et al. 2020, section 2.2; docs/formats/dolma.md "C4")."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, code_points, codes
from corpus_assets.attributes.terms import Automaton, Terms, automaton
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Counts

FEWEST_WORDS = 3
ENDINGS = '.?!"'
NAUGHTY, JAVASCRIPT, JAVASCRIPT_WORD, LOREM_IPSUM, CURLY_BRACE = 1, 2, 4, 8, 16
_RULES = ("lines_with_no_ending_punctuation", "lines_with_too_few_words")
_ENDINGS = np.array([ord(ending) for ending in ENDINGS], dtype=np.uint32)


def naughty_words() -> list[str]:
    """Returns the word list of the toolkit, in its order."""
    listed = files("corpus_assets.attributes") / "data" / "naughty_words_en.txt"
    return listed.read_text(encoding="utf-8").splitlines()


@cache
def _automaton() -> Automaton:
    naughty = naughty_words()
    phrases = {phrase: NAUGHTY for phrase in naughty if " " in phrase}
    single = {word: NAUGHTY for word in naughty if " " not in word}
    anywhere = {"javascript": JAVASCRIPT, "lorem ipsum": LOREM_IPSUM, "{": CURLY_BRACE}
    return automaton(Terms({**phrases, **anywhere}, {**single, "javascript": JAVASCRIPT_WORD}))


class _Measures(NamedTuple):
    """The marks of the terms in a text, its number of lines, and those that break a rule."""

    marks: int
    lines: int
    broken: Spans


def _measures(text: Text) -> _Measures:
    return _measured(text.once(codes))


def _measured(points: NDArray[np.uint32]) -> _Measures:
    from corpus_assets.attributes.kernels.c4 import measure_lines

    classes, moves, anywhere, whole, lengths, shorter = _automaton()
    marks, lines, *kinds = measure_lines(
        points, character_flags(), (_ENDINGS, FEWEST_WORDS), (classes, moves), (anywhere, whole, lengths, shorter)
    )
    broken = {
        name: Counts(encoded.tobytes(), count, float(count))
        for name, (count, encoded) in zip(_RULES, kinds, strict=True)
        if count
    }
    return _Measures(marks, lines, broken)


def c4_v1(text: Text) -> Spans:
    """Returns lines and flags; `javascript` counts as a whole word only."""
    return {**text.once(_measures).broken, **_flags(text, JAVASCRIPT_WORD), **_count(text)}


def c4_v2(text: Text) -> Spans:
    """Returns lines and flags; `javascript` counts anywhere."""
    return {**_flags(text, JAVASCRIPT), **text.once(_measures).broken, **_count(text)}


def c4_v2_of_dolma(text: Text) -> Spans:
    """Returns the values of the toolkit, whose spans are offsets into the lower-case text, which may be longer."""
    lower = text.string.lower()
    found = text.once(_measures) if len(lower) == len(text.string) else _measured(code_points(lower))
    return {**_flags(text, JAVASCRIPT), **found.broken, **_count(text)}


def _flags(text: Text, javascript: int) -> Spans:
    marks = text.once(_measures).marks
    if not marks:
        return {}
    named = {
        "has_curly_brace": CURLY_BRACE,
        "has_lorem_ipsum": LOREM_IPSUM,
        "has_javascript": javascript,
        "has_naughty_word": NAUGHTY,
    }
    return {name: text.whole(1.0) for name, mark in named.items() if marks & mark}


def _count(text: Text) -> Spans:
    return {"line_count": text.whole(float(text.once(_measures).lines))}


_SOURCE = "Raffel et al. 2020 (C4), as in Dolma"
_GIVES = (
    "`lines_with_no_ending_punctuation`, `lines_with_too_few_words`: 1 for each such line; `has_naughty_word`, "
    "`has_javascript`, `has_lorem_ipsum`, `has_curly_brace`: 1 if so; `line_count`"
)
_TYPES = (
    *_RULES,
    *("has_naughty_word", "has_javascript", "has_lorem_ipsum", "has_curly_brace", "line_count"),
)
TAGGERS = [
    Tagger(
        "c4_v1", c4_v1, version="1", types=_TYPES, gives=f"{_GIVES}; `javascript` as a word of its own", source=_SOURCE
    ),
    Tagger(
        "c4_v2",
        c4_v2,
        version="1",
        types=_TYPES,
        gives="as `c4_v1`; `javascript` anywhere",
        source=_SOURCE,
        dolma=c4_v2_of_dolma,
    ),
]
