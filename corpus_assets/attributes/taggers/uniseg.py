"""Words by Unicode's rules (UAX #29; docs/formats/dolma.md "Lengths")."""

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import CODE_POINTS, character_flags, codes
from corpus_assets.attributes.kernels.word_breaks import classes as break_classes
from corpus_assets.attributes.units import Paragraphs, Positions, all_paragraphs, counted, paragraphs
from resources.documents.tagger import Spans, Tagger, Text

_CLASSES = {
    "CR": break_classes.CR,
    "LF": break_classes.LF,
    "Newline": break_classes.NEWLINE,
    "Extend": break_classes.EXTEND,
    "Format": break_classes.FORMAT,
    "ZWJ": break_classes.ZWJ,
    "Hebrew_Letter": break_classes.HEBREW_LETTER,
    "ALetter": break_classes.ALETTER,
    "Katakana": break_classes.KATAKANA,
    "Numeric": break_classes.NUMERIC,
    "ExtendNumLet": break_classes.EXTEND_NUM_LET,
    "WSegSpace": break_classes.SPACES,
    "Single_Quote": break_classes.SINGLE_QUOTE,
    "Double_Quote": break_classes.DOUBLE_QUOTE,
    "MidNumLet": break_classes.MID_NUM_LET,
    "MidLetter": break_classes.MID_LETTER,
    "MidNum": break_classes.MID_NUM,
    "Regional_Indicator": break_classes.REGIONAL_INDICATOR,
    "Extended_Pictographic": break_classes.PICTOGRAPHIC,
}


@cache
def word_break_classes() -> NDArray[np.uint8]:
    """Returns the Word_Break class of every code point, with a bit for Extended_Pictographic (1114112,)."""
    classes = np.zeros(CODE_POINTS, dtype=np.uint8)
    table = files("corpus_assets.attributes") / "data" / "word_break.txt"
    for line in table.read_text(encoding="utf-8").splitlines():
        points, _, names = line.partition(" ")
        if points != "#":
            first, _, last = points.partition("..")
            classes[int(first, 16) : int(last or first, 16) + 1] = sum(_CLASSES[name] for name in names.split("+"))
    return classes


def _segments(text: Text, starts: Positions, ends: Positions) -> NDArray[np.int64]:
    """Returns for each stripped part the number of segments, and of those that are not only whitespace."""
    from corpus_assets.attributes.kernels.units import strip_parts
    from corpus_assets.attributes.kernels.word_breaks.boundaries import count_segments

    points, flags = text.once(codes), character_flags()
    counts: NDArray[np.int64] = count_segments(
        points, flags, word_break_classes(), *strip_parts(points, flags, starts, ends)
    )
    return counts


def uniseg_length(text: Text) -> Spans:
    """Returns the number of segments, including whitespace."""
    counts = _segments(text, np.array([0]), np.array([len(text.string)]))
    return {"length": text.whole(float(counts[0, 0]))}


def _paragraph_words(text: Text) -> NDArray[np.int64]:
    found = text.once(paragraphs)
    return _segments(text, found.starts, found.ends)[:, 1]


def uniseg_length_paragraphs(text: Text) -> Spans:
    """Returns the words of each paragraph that is not blank, and minus that number."""
    return _scores(text.once(paragraphs), text.once(_paragraph_words))


def uniseg_length_paragraphs_with_empty(text: Text) -> Spans:
    """Returns the words of each paragraph, and minus that number."""
    found = text.once(all_paragraphs)
    counts = np.zeros(len(found.starts), dtype=np.int64)
    counts[~found.blank] = text.once(_paragraph_words)
    return _scores(found, counts)


def uniseg_length_paragraphs_with_doc_length(text: Text) -> Spans:
    """Returns the words of each paragraph that is not blank and of the text, and minus these numbers."""
    total = int(text.once(_paragraph_words).sum())
    documents = {"document": text.whole(float(total)), "negative_document": text.whole(float(-total))}
    return {**uniseg_length_paragraphs(text), **documents}


def _scores(found: Paragraphs, counts: NDArray[np.int64]) -> Spans:
    if not len(counts):
        return {}
    return {
        "paragraph": counted(found.starts, found.ends, counts),
        "negative_paragraph": counted(found.starts, found.ends, -counts),
    }


_PARAGRAPHS = ("paragraph", "negative_paragraph")
_SOURCE = "Unicode 16, UAX #29; Dolma toolkit"
TAGGERS = [
    Tagger(
        "uniseg_length_v1",
        uniseg_length,
        version="1",
        types=("length",),
        gives="`length`: segments of the text, those of whitespace included",
        source=_SOURCE,
    ),
    Tagger(
        "uniseg_length_paragraphs_v1",
        uniseg_length_paragraphs,
        version="1",
        types=_PARAGRAPHS,
        gives="`paragraph`: words of each paragraph that is not blank; `negative_paragraph`: minus that",
        source=_SOURCE,
    ),
    Tagger(
        "uniseg_length_paragraphs_with_empty_v1",
        uniseg_length_paragraphs_with_empty,
        version="1",
        types=_PARAGRAPHS,
        gives="the same, with blank paragraphs",
        source=_SOURCE,
    ),
    Tagger(
        "uniseg_length_paragraphs_with_doc_length_v1",
        uniseg_length_paragraphs_with_doc_length,
        version="1",
        types=(*_PARAGRAPHS, "document", "negative_document"),
        gives="as `uniseg_length_paragraphs_v1`, and `document`, `negative_document`: the sums",
        source=_SOURCE,
    ),
]
