"""Lengths of texts and paragraphs (docs/formats/dolma.md "Lengths")."""

import numpy as np

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import Positions, counted, paragraphs
from resources.documents.tagger import Spans, Tagger, Text


def char_length(text: Text) -> Spans:
    """Returns the number of code points."""
    return {"length": text.whole(float(len(text.string)))}


def char_length_strip_ws(text: Text) -> Spans:
    """Returns the number of code points without whitespace at both ends."""
    return {"length_no_ws": text.whole(float(len(text.string.strip())))}


def bytes_length(text: Text) -> Spans:
    """Returns the number of UTF-8 bytes."""
    return {"bytes": text.whole(float(len(text.string.encode())))}


def doc_count(text: Text) -> Spans:
    """Returns 1, for counting documents."""
    return {"docs": text.whole(1.0)}


def char_length_with_paragraphs(text: Text) -> Spans:
    """Returns the number of code points of each paragraph and of the text."""
    found = text.once(paragraphs)
    spans = {"paragraph": counted(found.starts, found.ends, found.ends - found.starts)} if len(found.starts) else {}
    return {**spans, "document": text.whole(float(len(text.string)))}


def whitespace_tokenizer(text: Text) -> Spans:
    """Returns one more than the number of runs of word characters and of other visible characters."""
    whole = np.array([0]), np.array([len(text.string)])
    return {"length": text.whole(float(_pieces(text, *whole)[0]))}


def whitespace_tokenizer_with_paragraphs(text: Text) -> Spans:
    """Returns the same count for each paragraph, and their sum."""
    found = text.once(paragraphs)
    counts = _pieces(text, found.starts, found.ends)
    spans = {"paragraph": counted(found.starts, found.ends, counts)} if len(counts) else {}
    return {**spans, "document": text.whole(float(counts.sum()))}


def _pieces(text: Text, starts: Positions, ends: Positions) -> Positions:
    from corpus_assets.attributes.kernels.pieces import count_pieces

    counts: Positions = count_pieces(text.once(codes), character_flags(), starts, ends)
    return counts


_TOOLKIT = "Dolma toolkit"
TAGGERS = [
    Tagger(
        "char_length_v1", char_length, version="1", types=("length",), gives="`length`: code points", source=_TOOLKIT
    ),
    Tagger(
        "char_length_strip_ws_v1",
        char_length_strip_ws,
        version="1",
        types=("length_no_ws",),
        gives="`length_no_ws`: code points without whitespace at both ends",
        source=_TOOLKIT,
    ),
    Tagger(
        "bytes_length_v1", bytes_length, version="1", types=("bytes",), gives="`bytes`: UTF-8 bytes", source=_TOOLKIT
    ),
    Tagger("doc_count_v1", doc_count, version="1", types=("docs",), gives="`docs`: 1", source=_TOOLKIT),
    Tagger(
        "char_length_with_paragraphs_v1",
        char_length_with_paragraphs,
        version="1",
        types=(
            "paragraph",
            "document",
        ),
        gives="`paragraph`: code points of each paragraph that is not blank; `document`: of the text",
        source=_TOOLKIT,
    ),
    Tagger(
        "whitespace_tokenizer_v1",
        whitespace_tokenizer,
        version="1",
        types=("length",),
        gives="`length`: runs of word characters and runs of other visible characters, plus 1",
        source=_TOOLKIT,
    ),
    Tagger(
        "whitespace_tokenizer_with_paragraphs_v1",
        whitespace_tokenizer_with_paragraphs,
        version="1",
        types=(
            "paragraph",
            "document",
        ),
        gives="`paragraph`: the same count for each paragraph that is not blank; `document`: their sum",
        source=_TOOLKIT,
    ),
]
