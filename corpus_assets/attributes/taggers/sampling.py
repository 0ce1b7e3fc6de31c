"""A random number per document, for drawing samples."""

from resources.documents.tagger import Spans, Tagger, Text
from resources.hashing import keyed_hash


def random_number(text: Text) -> Spans:
    """Returns a number in [0, 1) that depends on source and id only."""
    document = text.document
    number = keyed_hash("random_number", 0, document.source, document.id)
    return {"random": text.whole((number >> 11) / (1 << 53))}


TAGGERS = [
    Tagger(
        "random_number_v1",
        random_number,
        version="1",
        types=("random",),
        gives="`random`: uniform in [0, 1), the same in every run (the toolkit draws another one each time)",
        source="Dolma toolkit",
    )
]
