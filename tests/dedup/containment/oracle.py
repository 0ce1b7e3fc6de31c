"""Which documents stand in which, by all pairs of their shingles."""

from collections.abc import Mapping

from corpus_assets.dedup.signatures.scheme import SignatureScheme
from tests.dedup.oracles import shingles


def shares(texts: Mapping[str, str], scheme: SignatureScheme) -> dict[tuple[str, str], float]:
    """Share of the shingles of each document that another one has, by (document, other)."""
    sets = {name: shingles(text, scheme) for name, text in texts.items()}
    return {
        (name, other): len(own & theirs) / len(own)
        for name, own in sets.items()
        for other, theirs in sets.items()
        if own and name != other
    }
