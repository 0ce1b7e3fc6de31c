"""Paragraphs of punctuation and pictures only (docs/formats/dolma.md "Lengths")."""

from corpus_assets.attributes.characters import character_flags, codes
from corpus_assets.attributes.units import marked, paragraphs
from resources.documents.tagger import Spans, Tagger, Text


def not_alphanum_paragraph(text: Text) -> Spans:
    """Returns 1 for each paragraph of punctuation and pictures; if there is none, 0 for the text."""
    from corpus_assets.attributes.kernels.punctuation import are_punctuation

    found = text.once(paragraphs)
    chosen = are_punctuation(text.once(codes), character_flags(), found.starts, found.ends)
    if not chosen.any():
        return {"all_punct": text.whole(0.0)}
    return {"all_punct": marked(found.starts[chosen], found.ends[chosen])}


TAGGERS = [
    Tagger(
        "not_alphanum_paragraph_v1",
        not_alphanum_paragraph,
        version="1",
        types=("all_punct",),
        gives="`all_punct`: 1 for each paragraph of punctuation and pictures only; 0 for the text if there is none",
        source="Dolma toolkit",
    )
]
