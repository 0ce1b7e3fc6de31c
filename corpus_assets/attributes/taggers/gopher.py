"""Gopher's quality and repetition measures (Rae et al. 2021, appendix A; docs/formats/dolma.md "Gopher")."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, codes
from resources.documents.tagger import Spans, Tagger, Text
from resources.formats.attributes import Span

REQUIRED = ("the", "be", "to", "of", "and", "that", "have", "with")
_MOST_COMMON = {n: f"fraction_of_characters_in_most_common_{n}grams" for n in range(2, 5)}
_DUPLICATE = {n: f"fraction_of_characters_in_duplicate_{n}grams" for n in range(5, 11)}
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
    from corpus_assets.attributes.kernels.gopher import measure_text

    if not text.string:
        return {name: text.whole(0.0) for name in _NO_TEXT}
    ngrams, words, lines, median = measure_text(text.once(codes), character_flags(), _PACKED, merged)
    count, letters, symbols, alphabetic, required = words
    number, bullets, ellipses, again, covered = lines
    measures = {
        **_ngram_measures(ngrams, letters),
        "character_count": len(text.string),
        "word_count": count,
        "median_word_length": median,
        "symbol_to_word_ratio": symbols / max(count, 1),
        "fraction_of_words_with_alpha_character": alphabetic / max(count, 1),
        "required_word_count": required,
        "fraction_of_lines_starting_with_bullet_point": bullets / number,
        "fraction_of_lines_ending_with_ellipsis": ellipses / number,
        "fraction_of_duplicate_lines": again / number,
        "fraction_of_characters_in_duplicate_lines": covered / max(letters, 1),
    }
    return {name: text.whole(score) for name, score in measures.items()}


def _ngram_measures(ngrams: NDArray[np.int64], letters: int) -> dict[str, float]:
    """Returns the measures of n-grams; letters: of all words."""
    rows = ngrams.tolist()
    measures = {_MOST_COMMON[n]: rows[n][0] / max(letters, 1) for n in _MOST_COMMON if rows[n][2] >= 0}
    return measures | {_DUPLICATE[n]: rows[n][1] / max(rows[n][2], 1) for n in _DUPLICATE if rows[n][2] >= 0}


_GIVES = (
    "`fraction_of_characters_in_most_common_{2,3,4}grams`, `fraction_of_characters_in_duplicate_{5..10}grams`, "
    + ", ".join(f"`{name}`" for name in _NO_TEXT)
)
_SOURCE = "Rae et al. 2021 (Gopher), as in Dolma"
_TYPES = (*_MOST_COMMON.values(), *_DUPLICATE.values(), *_NO_TEXT)
TAGGERS = [
    Tagger(
        "gopher_v1",
        gopher_v1,
        version="1",
        types=_TYPES,
        gives=f"{_GIVES}; a line ends at every newline",
        source=_SOURCE,
    ),
    Tagger(
        "gopher_v2",
        gopher_v2,
        version="1",
        types=_TYPES,
        gives="as `gopher_v1`; a line ends at a run of newlines",
        source=_SOURCE,
    ),
]
