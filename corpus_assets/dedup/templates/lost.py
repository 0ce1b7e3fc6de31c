"""Whether a source loses its documents to a template: a look at some removed documents, for people to be told.

A source of short records in one frame loses nearly all of them, since they are similar by the frame. A removed document
counts as lost to it if it and the one kept are not alike any more once the shingles are left out that half of those
looked at have.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from corpus_assets.dedup.documents.numbering import Documents, Numbering
from corpus_assets.dedup.signatures.one_permutation import mix64
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.shingles import cleaned_bytes, shingle_hashes
from corpus_assets.dedup.similarity.check import Texts
from corpus_assets.dedup.similarity.jaccard import wanted
from corpus_assets.dedup.templates.counting import FEWEST

_LOOKED_AT = 64
_MUCH = 0.3
"""Share of a source's documents from which on its losses are looked into."""

_OFTEN = 0.5
_FEW = 10
_LONGEST = 1 << 18
"""Characters up to which a text is looked at; records in a frame are short."""

NEVER = 2.0
"""A share or similarity that is never reached."""

Pair = tuple[int, int]
Blocks = Callable[[], Iterator[tuple[Documents, Documents, Documents]]]
"""Blocks of (members of clusters, the kept document of each, sizes), that can be read repeatedly."""


class Alike(NamedTuple):
    """When a document and the kept one are alike, by shingles of `scheme`.

    similarity: the least Jaccard similarity. share: the least share of the document that the kept one holds.
    """

    scheme: SignatureScheme
    similarity: float
    share: float

    def are(self, own: set[int], kept: set[int]) -> bool:
        """Returns whether two sets of shingles are."""
        both = len(own & kept)
        return both >= self.similarity * len(own | kept) or both >= self.share * len(own)


def lost_to_template(
    blocks: Blocks,
    numbering: Numbering,
    losses: Mapping[str, Mapping[str, int]],
    texts: Texts,
    alike: Alike,
) -> dict[str, dict[str, int]]:
    """Returns of each source that loses mainly to a template how many documents were looked at, and lost to it.

    Sources of few documents, and those that lose few, are not looked at.
    """
    asked = [
        source
        for source, loss in losses.items()
        if loss["documents"] >= FEWEST and loss["removed"] >= _MUCH * loss["documents"]
    ]
    sampled = _sampled(blocks, numbering, asked)
    documents = [np.array(pairs, dtype=numbering.dtype).reshape(-1, 2) for pairs in sampled.values()]
    sets = {
        number: set(shingle_hashes(cleaned_bytes(text), alike.scheme).tolist())
        for number, text in texts(wanted(documents, numbering.total))
        if len(text) <= _LONGEST
    }
    found = {}
    for source, pairs in sampled.items():
        known = [(sets[own], sets[kept]) for own, kept in pairs if own in sets and kept in sets]
        lost = _lost(known, alike)
        if len(known) >= _FEW and lost > len(known) / 2:
            found[source] = {**losses[source], "looked_at": len(known), "lost": lost}
    return found


def _sampled(blocks: Blocks, numbering: Numbering, sources: Sequence[str]) -> dict[str, list[Pair]]:
    """Returns some removed documents of each source, by hashes of their numbers, each with the one kept."""
    held = {source: np.empty((0, 2), dtype=np.uint64) for source in sources}
    places = np.array([sources.index(name) if name in held else -1 for name in numbering.sources], dtype=np.int64)
    for members, kept, _ in blocks() if held else ():
        gone = members != kept
        pairs = np.stack([members[gone], kept[gone]], axis=1).astype(np.uint64)
        of = places[numbering.shards_of(members[gone])]
        for place, source in enumerate(sources):
            more = np.concatenate([held[source], pairs[of == place]])
            held[source] = more[np.argsort(mix64(more[:, 0]), kind="stable")[:_LOOKED_AT]]
    return {source: [(own, kept) for own, kept in pairs.tolist()] for source, pairs in held.items()}


def _lost(pairs: Sequence[tuple[set[int], set[int]]], alike: Alike) -> int:
    """Returns how many documents are alike their kept one only by shingles that many of the documents have."""
    counts = Counter(shingle for own, _ in pairs for shingle in own)
    often = {shingle for shingle, count in counts.items() if count >= _OFTEN * len(pairs)}
    left = ((own - often, kept - often) for own, kept in pairs)
    return sum(bool(own) and not alike.are(own, kept) for own, kept in left)
