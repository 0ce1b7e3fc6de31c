"""C4's rules (Raffel et al. 2020, section 2.2; docs/formats/dolma.md "C4")."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, code_points, codes
from corpus_assets.attributes.terms import Automaton, Terms, automaton
from corpus_assets.attributes.units import Positions, marked
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

FEWEST_WORDS = 3
ENDINGS = '.?!"'
NAUGHTY, JAVASCRIPT, JAVASCRIPT_WORD, LOREM_IPSUM, CURLY_BRACE = 1, 2, 4, 8, 16
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


class _Lines(NamedTuple):
    starts: Positions
    ends: Positions
    unended: NDArray[np.bool_]
    short: NDArray[np.bool_]


def _lines(text: Text) -> _Lines:
    return _measured(text.once(codes))


def _measured(points: NDArray[np.uint32]) -> _Lines:
    from corpus_assets.attributes.kernels.lines import measure_lines

    return _Lines(*measure_lines(points, character_flags(), _ENDINGS, FEWEST_WORDS))


def _marks(text: Text) -> int:
    from corpus_assets.attributes.kernels.terms import find_terms

    classes, moves, anywhere, whole, lengths, shorter = _automaton()
    return int(find_terms(text.once(codes), character_flags(), (classes, moves), (anywhere, whole, lengths, shorter)))


def c4_v1(text: Text) -> Spans:
    """Returns lines and flags; `javascript` counts as a whole word only."""
    return {**_of_lines(text.once(_lines)), **_flags(text, JAVASCRIPT_WORD), **_count(text)}


def c4_v2(text: Text) -> Spans:
    """Returns lines and flags; `javascript` counts anywhere."""
    return {**_flags(text, JAVASCRIPT), **_of_lines(text.once(_lines)), **_count(text)}


def c4_v2_of_dolma(text: Text) -> Spans:
    """Returns the values of the toolkit, whose spans are offsets into the lower-case text, which may be longer."""
    lower = text.string.lower()
    found = text.once(_lines) if len(lower) == len(text.string) else _measured(code_points(lower))
    return {**_flags(text, JAVASCRIPT), **_of_lines(found), **_count(text)}


def _of_lines(found: _Lines) -> Spans:
    named = {"lines_with_no_ending_punctuation": found.unended, "lines_with_too_few_words": found.short}
    return {name: marked(found.starts[chosen], found.ends[chosen]) for name, chosen in named.items() if chosen.any()}


def _flags(text: Text, javascript: int) -> dict[str, list[Span]]:
    marks = text.once(_marks)
    named = {
        "has_curly_brace": CURLY_BRACE,
        "has_lorem_ipsum": LOREM_IPSUM,
        "has_javascript": javascript,
        "has_naughty_word": NAUGHTY,
    }
    return {name: text.whole(1.0) for name, mark in named.items() if marks & mark}


def _count(text: Text) -> dict[str, list[Span]]:
    return {"line_count": text.whole(float(len(text.once(_lines).starts)))}


_SOURCE = "Raffel et al. 2020 (C4), as in Dolma"
_GIVES = (
    "`lines_with_no_ending_punctuation`, `lines_with_too_few_words`: 1 for each such line; `has_naughty_word`, "
    "`has_javascript`, `has_lorem_ipsum`, `has_curly_brace`: 1 if so; `line_count`"
)
_TYPES = (
    *("lines_with_no_ending_punctuation", "lines_with_too_few_words"),
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
