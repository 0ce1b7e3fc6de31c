"""Pass 1: sends the stored line of each kept document of a shard to its chunk.

Chunk and order come from a keyed hash of (seed, source, id, copy), so that adding a shard moves no other document.
SlimPajama draws with replacement from generators that all readers share (docs/formats/slimpajama.md "Pass 1", "Defect:
epochs are draws with replacement").
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from corpus_assets.mix.repeat import copies
from resources.hashing import hash_parts, keyed_hasher


class Kept(NamedTuple):
    """A document that is not left out: its id, its stored line, and SHA-256 and bytes of its text.

    times: how often it is used for each epoch of its source.
    """

    id: str
    line: bytes
    digest: bytes
    size: int
    times: float = 1.0


class Placed(NamedTuple):
    """One use of one document: the chunk it goes to, its stored line, and its row data."""

    chunk: int
    line: bytes
    order: int
    copy: int
    size: int
    digest: bytes


def scatter(documents: Iterable[Kept], *, source: str, epochs: float, seed: int, chunks: int) -> Iterator[Placed]:
    """Yields one `Placed` for every use of the given documents; none for one that is not used (epochs below 1)."""
    chunk_hash, order_hash = (keyed_hasher(purpose, seed, source) for purpose in ("chunk", "order"))
    for identifier, line, digest, size, times in documents:
        for copy in range(copies(epochs * times, seed, source, identifier)):
            use = hash_parts(identifier, copy)
            yield Placed(chunk_hash(use) % chunks, line, order_hash(use), copy, size, digest)
