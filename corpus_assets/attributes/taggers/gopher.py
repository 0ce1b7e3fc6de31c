"""Gopher's quality and repetition measures (Rae et al. 2021, appendix A; docs/formats/dolma.md "Gopher")."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import Positions, words
from resources.formats.attributes import Span
from resources.tagger import Spans, Tagger, Text

REQUIRED = ("the", "be", "to", "of", "and", "that", "have", "with")
BULLETS = ("*", "-")
ELLIPSIS = "\u2026"
_NEWLINE = 10
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
    return _spans(text, text.once(_lines))


def gopher_v2(text: Text) -> Spans:
    """Returns the measures with lines that are split at runs of newlines."""
    starts, ends = text.once(_lines)
    kept = starts < ends
    kept[[0, -1]] = True
    return _spans(text, (starts[kept], ends[kept]))


def _lines(text: Text) -> tuple[Positions, Positions]:
    """Returns where the lines between newlines begin and end; a newline at an end of the text has an empty one."""
    newlines = np.flatnonzero(text.once(codes) == _NEWLINE)
    return np.concatenate([[0], newlines + 1]), np.concatenate([newlines, [len(text.string)]])


def _spans(text: Text, lines: tuple[Positions, Positions]) -> dict[str, list[Span]]:
    if not text.string:
        return {name: text.whole(0.0) for name in _NO_TEXT}
    measures = {**text.once(_word_measures), **dict(_line_measures(text, lines))}
    return {name: text.whole(score) for name, score in measures.items()}


def _word_measures(text: Text) -> dict[str, float]:
    """Returns what does not depend on how lines are split."""
    from corpus_assets.attributes.kernels.word_measures import measure_words

    found = text.once(words)
    count = len(found.starts)
    symbols, alphabetic, required = measure_words(text.once(codes), character_flags(), *found, _PACKED)
    return {
        **dict(_ngram_measures(text)),
        "character_count": len(text.string),
        "word_count": count,
        "median_word_length": _median(found.lengths),
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


def _line_measures(text: Text, lines: tuple[Positions, Positions]) -> Iterator[tuple[str, float]]:
    from corpus_assets.attributes.kernels.ngrams import number_words

    string, count = text.string, len(lines[0])
    letters = max(int(text.once(words).lengths.sum()), 1)
    bullets = sum(string.startswith(bullet) + string.count(f"\n{bullet}") for bullet in BULLETS)
    ellipses = string.endswith(ELLIPSIS) + string.count(f"{ELLIPSIS}\n")
    numbers, counts = number_words(text.once(codes), *lines)
    again = counts[numbers] > 1
    yield "fraction_of_lines_starting_with_bullet_point", bullets / count
    yield "fraction_of_lines_ending_with_ellipsis", ellipses / count
    yield "fraction_of_duplicate_lines", int(np.count_nonzero(again)) / count
    yield "fraction_of_characters_in_duplicate_lines", int((lines[1] - lines[0])[again].sum()) / letters


def _median(lengths: Positions) -> float:
    if not len(lengths):
        return 0.0
    middle = sorted({(len(lengths) - 1) // 2, len(lengths) // 2})
    return float(np.partition(lengths, middle)[middle].mean())


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
