"""Gopher's and FineWeb's measures of texts as the filters of datatrove compute them.

Words are English ones, unless `words` of the entry chooses others.

Sources: Rae et al. 2021 (Gopher), appendix A.1.1; Penedo et al. 2024 (FineWeb), section 3.6; datatrove 0.10,
`GopherQualityFilter`, `GopherRepetitionFilter`, `FineWebQualityFilter`.
"""

from collections.abc import Callable, Collection, Mapping
from functools import partial

from corpus_assets.attributes.splitters.choice import ENGLISH, WordChoice
from corpus_assets.attributes.splitters.words import WordList
from corpus_assets.attributes.taggers.gopher import REQUIRED
from corpus_assets.attributes.taggers.presets.c4 import left_by_c4, left_by_c4_any_ending
from corpus_assets.attributes.taggers.presets.dclm.page import left_by_dclm
from corpus_assets.attributes.taggers.presets.measures import SPACY, exactly, layout, of_grams, of_words
from resources.documents.tagger import Spans, Tagger, Text

Scores = Mapping[str, float]
Measure = Callable[[Text, WordChoice], Scores]
_GRAMS = {n: f"characters_in_{'top' if n < 5 else 'duplicate'}_{n}grams" for n in range(2, 11)}


def gopher_quality(text: Text, words: WordChoice) -> Scores:
    """Returns Gopher's measures of words and lines."""
    return quality_of(text, text.once(words.words), words.stop_words(text, REQUIRED))


def gopher_repetition(text: Text, words: WordChoice) -> Scores:
    """Returns Gopher's shares of repeated lines, paragraphs and n-grams of words."""
    return repetition_of(text, text.once(words.words))


def fineweb_quality(text: Text, words: WordChoice) -> Scores:
    """Returns FineWeb's measures of lines."""
    return fineweb_of(text, text.once(words.words))


def quality_of(text: Text, words: WordList, stop_words: Collection[str]) -> Scores:
    """Returns Gopher's measures of words and lines; 0 instead of a share of nothing."""
    counts = text.once(layout)
    full, letters, alphabetic = of_words(words)
    many, lines = max(len(words.words), 1), max(counts[12], 1)
    return {
        "words": full,
        "word_length": letters / max(full, 1),
        "hashes_per_word": counts[15] / many,
        "ellipses_per_word": counts[16] / many,
        "bullet_lines": counts[13] / lines,
        "ellipsis_lines": counts[14] / lines,
        "words_with_letter": alphabetic / many,
        "stop_words": len(set(stop_words).intersection(words.words)),
    }


def repetition_of(text: Text, words: WordList) -> Scores:
    """Returns Gopher's shares of repeated lines, paragraphs and n-grams; none of n-grams longer than the text."""
    counts, size = text.once(layout), max(len(text.string), 1)
    grams = of_grams(words)
    return {
        "characters": len(text.string),
        "duplicate_paragraphs": counts[1] / counts[0],
        "characters_in_duplicate_paragraphs": counts[2] / size,
        "duplicate_lines": counts[4] / counts[3],
        "characters_in_duplicate_lines": counts[5] / size,
        **{_GRAMS[n]: count / size for n, count in enumerate(grams, 2) if count >= 0},
    }


def fineweb_of(text: Text, words: WordList) -> Scores:
    """Returns FineWeb's measures of lines; 0 instead of a share of nothing."""
    counts = text.once(layout)
    lines = max(counts[6], 1)
    return {
        "lines": counts[6],
        "lines_with_final_mark": counts[9] / lines,
        "short_lines": counts[10] / lines,
        "characters_in_duplicate_lines": counts[8] / max(len(text.string) - counts[11], 1),
        "newlines_per_word": counts[11] / max(len(words.words), 1),
    }


QUALITY_TYPES = (
    *("words", "word_length", "hashes_per_word", "ellipses_per_word"),
    *("bullet_lines", "ellipsis_lines", "words_with_letter", "stop_words"),
)
REPETITION_TYPES = (
    *("characters", "duplicate_paragraphs", "characters_in_duplicate_paragraphs"),
    *("duplicate_lines", "characters_in_duplicate_lines"),
    *_GRAMS.values(),
)
FINEWEB_TYPES = (
    *("lines", "lines_with_final_mark", "short_lines"),
    *("characters_in_duplicate_lines", "newlines_per_word"),
)
_LEFT = {
    "": None,
    "_after_c4": left_by_c4,
    "_after_c4_any_ending": left_by_c4_any_ending,
    "_after_dclm": left_by_dclm,
}


def _tag(text: Text, measure: Measure, left: Callable[[Text], Text] | None, words: WordChoice = ENGLISH) -> Spans:
    return exactly(text, measure(text.once(left) if left else text, words))


def _lines_of(suffix: str) -> str:
    return "dclm_page" if suffix == "_after_dclm" else f"c4_lines{suffix[9:]}"


def _taggers(name: str, measure: Measure, types: tuple[str, ...], gives: str, source: str) -> list[Tagger]:
    """Returns a tagger, and those of the same measures of what the rules of C4 leave of the text."""
    return [
        Tagger(
            f"{name}{suffix}",
            partial(_tag, measure=measure, left=left),
            version="1",
            types=types,
            gives=f"as `{name}`, of what `{_lines_of(suffix)}` leaves of the text" if suffix else gives,
            source=source,
            splits_words=True,
            **SPACY,
        )
        for suffix, left in _LEFT.items()
    ]


TAGGERS = [
    *_taggers(
        "gopher_quality",
        gopher_quality,
        QUALITY_TYPES,
        "`words`: those of more than symbols; `word_length`: their mean length; `hashes_per_word`, "
        "`ellipses_per_word`, `bullet_lines`, `ellipsis_lines`, `words_with_letter`: shares; `stop_words`: how many of "
        "Gopher's eight occur",
        "Rae et al. 2021 (Gopher), as `GopherQualityFilter` of datatrove 0.10",
    ),
    *_taggers(
        "gopher_repetition",
        gopher_repetition,
        REPETITION_TYPES,
        "`characters`: code points of the text; shares of paragraphs, lines, and code points: "
        + ", ".join(f"`{name}`" for name in REPETITION_TYPES[1:]),
        "Rae et al. 2021 (Gopher), as `GopherRepetitionFilter` of datatrove 0.10",
    ),
    *_taggers(
        "fineweb_quality",
        fineweb_quality,
        FINEWEB_TYPES,
        "`lines`: those that are not blank; of them `lines_with_final_mark`, `short_lines` (30 code points or fewer): "
        "shares; `characters_in_duplicate_lines`: share of the text without newlines; `newlines_per_word`",
        "Penedo et al. 2024 (FineWeb), as `FineWebQualityFilter` of datatrove 0.10",
    ),
]
