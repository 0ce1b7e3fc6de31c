"""Gopher's quality and repetition measures (Rae et al. 2021, appendix A; docs/formats/dolma.md "Gopher")."""

import numpy as np

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
_TYPES = (*_MOST_COMMON.values(), *_DUPLICATE.values(), *_NO_TEXT)


def gopher_v1(text: Text) -> Spans:
    """Returns the measures with lines that are split at every newline."""
    return _spans(text, merged=False)


def gopher_v2(text: Text) -> Spans:
    """Returns the measures with lines that are split at runs of newlines."""
    return _spans(text, merged=True)


def _spans(text: Text, *, merged: bool) -> dict[str, list[Span]]:
    from corpus_assets.attributes.kernels.gopher import measure_text

    size = len(text.string)
    if not size:
        return {name: text.whole(0.0) for name in _NO_TEXT}
    scores = measure_text(text.once(codes), character_flags(), _PACKED, merged).tolist()
    return {name: [(0, size, score)] for name, score in zip(_TYPES, scores, strict=True) if score >= 0}


_GIVES = (
    "`fraction_of_characters_in_most_common_{2,3,4}grams`, `fraction_of_characters_in_duplicate_{5..10}grams`, "
    + ", ".join(f"`{name}`" for name in _NO_TEXT)
)
_SOURCE = "Rae et al. 2021 (Gopher), as in Dolma"
TAGGERS = [
    Tagger(
        "gopher_v1",
        gopher_v1,
        version="2",
        types=_TYPES,
        gives=f"{_GIVES}; a line ends at every newline",
        source=_SOURCE,
    ),
    Tagger(
        "gopher_v2",
        gopher_v2,
        version="2",
        types=_TYPES,
        gives="as `gopher_v1`; a line ends at a run of newlines",
        source=_SOURCE,
    ),
]
