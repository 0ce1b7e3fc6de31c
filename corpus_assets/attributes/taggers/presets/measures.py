"""What the taggers of presets share: counts of texts and of lists of words, and scores that are not rounded."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import CODE_POINTS, character_flags, codes
from corpus_assets.attributes.splitters.words import WordList
from resources.documents.tagger import Spans, Text
from resources.formats.attributes import Counts

SYMBOL, TERMINAL = 1, 2
"""Bits of the table of marks, as the kernels have them."""
_MARKS = {"symbol": SYMBOL, "terminal": TERMINAL}
SPACY: Mapping[str, Any] = {"extra": "words", "wheels": ("spacy",)}
"""The library of the taggers that count English words."""


@cache
def marks() -> NDArray[np.uint8]:
    """Returns the bits `SYMBOL` and `TERMINAL` of every code point (1114112,), as datatrove has them."""
    found = np.zeros(CODE_POINTS, dtype=np.uint8)
    table = files("corpus_assets.attributes") / "data" / "preset_characters.txt"
    for line in table.read_text(encoding="utf-8").splitlines():
        points, _, name = line.partition(" ")
        if points != "#":
            first, _, last = points.partition("..")
            found[int(first, 16) : int(last or first, 16) + 1] |= _MARKS[name]
    return found


def layout(text: Text) -> list[int]:
    """Returns the counts of `kernels.layout.lines.measure_layout`."""
    from corpus_assets.attributes.kernels.layout.lines import measure_layout

    counts: list[int] = measure_layout(text.once(codes), character_flags(), marks()).tolist()
    return counts


def of_words(words: WordList) -> list[int]:
    """Returns the counts of `kernels.layout.grams.measure_list`."""
    from corpus_assets.attributes.kernels.layout.grams import measure_list

    counts: list[int] = measure_list(words.codes, character_flags(), marks(), words.ends).tolist()
    return counts


def of_grams(words: WordList) -> list[int]:
    """Returns the counts of `kernels.layout.grams.measure_grams`."""
    from corpus_assets.attributes.kernels.layout.grams import measure_grams

    counts: list[int] = measure_grams(words.codes, words.ends).tolist()
    return counts


def exactly(text: Text, scores: Mapping[str, float]) -> Spans:
    """Returns a span over the whole text per score, which is not rounded: a limit must decide as in the original."""
    size = len(text.string)
    return {name: Counts(_JSON.encode([(0, size, float(score))]), 1, float(score)) for name, score in scores.items()}


_JSON = msgspec.json.Encoder()
