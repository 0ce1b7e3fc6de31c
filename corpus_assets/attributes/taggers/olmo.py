"""Pieces of the pre-tokenizer of OLMo (docs/formats/dolma.md "Lengths")."""

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.characters import CODE_POINTS, character_flags, codes
from corpus_assets.attributes.kernels.flags import ALONE, LETTER, NUMBER, UNICODE_SPACE, WHITESPACE
from corpus_assets.attributes.units import Positions, counted, paragraphs
from resources.documents.tagger import Spans, Tagger, Text

_KINDS = {"L": LETTER, "N": NUMBER, "P": ALONE}


@cache
def _kinds() -> NDArray[np.uint8]:
    """Returns the kind of every code point (1114112,)."""
    categories = (unicodedata.category(chr(code)) for code in range(CODE_POINTS))
    kinds = np.fromiter((ALONE if c == "Nd" else _KINDS.get(c[0], 0) for c in categories), np.uint8, CODE_POINTS)
    kinds[character_flags() & UNICODE_SPACE != 0] = WHITESPACE
    return kinds


def _pieces(text: Text, starts: Positions, ends: Positions) -> Positions:
    from corpus_assets.attributes.kernels.olmo import count_olmo_pieces

    counts: Positions = count_olmo_pieces(text.once(codes), _kinds(), starts, ends)
    return counts


def olmo_pretokenizer(text: Text) -> Spans:
    """Returns the number of pieces of the text."""
    whole = np.array([0]), np.array([len(text.string)])
    return {"length": text.whole(float(_pieces(text, *whole)[0]))}


def olmo_pretokenizer_with_paragraphs(text: Text) -> Spans:
    """Returns the number of pieces of each paragraph that is not blank, and their sum."""
    found = text.once(paragraphs)
    counts = _pieces(text, found.starts, found.ends)
    spans = {"paragraph": counted(found.starts, found.ends, counts)} if len(counts) else {}
    return {**spans, "document": text.whole(float(counts.sum()))}


TAGGERS = [
    Tagger(
        "olmo_pretokenizer_v1",
        olmo_pretokenizer,
        version="1",
        types=("length",),
        gives="`length`: pieces before a byte-level tokenizer, punctuation and digits apart",
        source="Dolma toolkit",
    ),
    Tagger(
        "olmo_pretokenizer_with_paragraphs_v1",
        olmo_pretokenizer_with_paragraphs,
        version="1",
        types=(
            "paragraph",
            "document",
        ),
        gives="`paragraph`: pieces of each paragraph that is not blank; `document`: their sum",
        source="Dolma toolkit",
    ),
]
