"""Gopher's quality and repetition measures (Rae et al. 2021, appendix A; docs/formats/dolma.md "Gopher")."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import words
from resources.formats.attributes import Span
from resources.tagger import Spans, Tagger, Text

REQUIRED = ("the", "be", "to", "of", "and", "that", "have", "with")
MOST_COMMON = range(2, 5)
DUPLICATE = range(5, 11)
_PACKED = np.array([int.from_bytes(word.encode(), "big") for word in REQUIRED], dtype=np.uint32)
_NO_TEXT = (
    "character_count",
    "word_count",
    "median_word_length",
    "symbol_to_word_ratio",
    "fraction_of_words_with_alpha_character",
    "required_word_count",
    "fraction_of_lines_starting_with_bullet_point",
    "fraction_of_lines_ending_with_ellipsis",
    "fraction_of_duplicate_lines",
    "fraction_of_characters_in_duplicate_lines",
)


def gopher_v1(text: Text) -> Spans:
    """Returns the measures with lines that are split at every newline."""
    return _spans(text, merged=False)


def gopher_v2(text: Text) -> Spans:
    """Returns the measures with lines that are split at runs of newlines."""
    return _spans(text, merged=True)


def _spans(text: Text, *, merged: bool) -> dict[str, list[Span]]:
    if not text.string:
        return {name: text.whole(0.0) for name in _NO_TEXT}
    measures = {**text.once(_word_measures), **_line_measures(text, merged)}
    return {name: text.whole(score) for name, score in measures.items()}


def _word_measures(text: Text) -> dict[str, float]:
    """Returns what does not depend on how lines are split."""
    from corpus_assets.attributes.kernels.word_measures import measure_words, median_length

    found = text.once(words)
    count = len(found.starts)
    symbols, alphabetic, required = measure_words(text.once(codes), character_flags(), *found, _PACKED)
    return {
        **dict(_ngram_measures(text)),
        "character_count": len(text.string),
        "word_count": count,
        "median_word_length": median_length(*found),
        "symbol_to_word_ratio": symbols / max(count, 1),
        "fraction_of_words_with_alpha_character": alphabetic / max(count, 1),
        "required_word_count": required,
    }


def _ngram_measures(text: Text) -> Iterator[tuple[str, float]]:
    from corpus_assets.attributes.kernels.ngrams import measure_ngrams, number_words

    found = text.once(words)
    lengths = found.lengths
    measures: NDArray[np.int64] = measure_ngrams(*number_words(text.once(codes), *found), lengths)
    letters = max(int(lengths.sum()), 1)
    for n, (most_common, duplicate, every) in enumerate(measures.tolist()):
        if n in MOST_COMMON and every >= 0:
            yield f"fraction_of_characters_in_most_common_{n}grams", most_common / letters
        elif n in DUPLICATE and every >= 0:
            yield f"fraction_of_characters_in_duplicate_{n}grams", duplicate / max(every, 1)


def _line_measures(text: Text, merged: bool) -> dict[str, float]:
    from corpus_assets.attributes.kernels.text_lines import measure_text_lines

    lines, bullets, ellipses, again, covered = measure_text_lines(text.once(codes), merged)
    return {
        "fraction_of_lines_starting_with_bullet_point": bullets / lines,
        "fraction_of_lines_ending_with_ellipsis": ellipses / lines,
        "fraction_of_duplicate_lines": again / lines,
        "fraction_of_characters_in_duplicate_lines": covered / max(int(text.once(words).lengths.sum()), 1),
    }


_GIVES = (
    "`fraction_of_characters_in_most_common_{2,3,4}grams`, `fraction_of_characters_in_duplicate_{5..10}grams`, "
    + ", ".join(f"`{name}`" for name in _NO_TEXT)
)
_SOURCE = "Rae et al. 2021 (Gopher), as in Dolma"
TAGGERS = [
    Tagger("gopher_v1", gopher_v1, version="1", gives=f"{_GIVES}; a line ends at every newline", source=_SOURCE),
    Tagger(
        "gopher_v2", gopher_v2, version="1", gives="as `gopher_v1`; a line ends at a run of newlines", source=_SOURCE
    ),
]
