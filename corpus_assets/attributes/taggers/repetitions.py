"""Stretches that repeat a unit four times or more (docs/formats/dolma.md "Repetitions")."""

import numpy as np

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import Positions, all_paragraphs, counted
from resources.documents.tagger import Spans, Tagger, Text


def repetitions(text: Text) -> Spans:
    """Returns the repetitions of the text; one may continue after a newline."""
    return _spans(text, np.array([0]), np.array([len(text.string)]))


def paragraph_repetitions(text: Text) -> Spans:
    """Returns the repetitions within each paragraph."""
    found = text.once(all_paragraphs)
    return _spans(text, found.starts, found.ends)


def _spans(text: Text, starts: Positions, ends: Positions) -> Spans:
    from corpus_assets.attributes.kernels.repetitions.find import find_repetitions

    begins, stops, times = find_repetitions(text.once(codes), character_flags(), starts, ends)
    lengths = stops - begins
    some = len(begins) > 0
    return {
        **({"repetition": counted(begins, stops, times)} if some else {}),
        "doc_max_score_repetition": text.whole(float(times.max()) if some else 0.0),
        "doc_max_length_repetition": text.whole(float(lengths.max()) if some else 0.0),
        "doc_frac_repetition": text.whole(int(lengths.sum()) / len(text.string) if some else 0.0),
    }


TYPES = ("repetition", "doc_max_score_repetition", "doc_max_length_repetition", "doc_frac_repetition")
_GIVES = (
    "`repetition`: how often it repeats its unit, for each; `doc_max_score_repetition`, `doc_max_length_repetition` "
    "(code points), `doc_frac_repetition` (share of the text)"
)
TAGGERS = [
    Tagger("repetitions_v1", repetitions, version="1", types=TYPES, gives=_GIVES, source="Dolma toolkit"),
    Tagger(
        "paragraph_repetitions_v1",
        paragraph_repetitions,
        version="1",
        types=TYPES,
        gives="the same, within paragraphs",
        source="Dolma toolkit",
    ),
]
