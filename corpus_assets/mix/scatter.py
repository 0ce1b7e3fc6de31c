"""Pass 1: sends each kept document of a shard to its chunk, as the stored line.

Chunk and order come from a keyed hash of (seed, source, id, copy), so that adding a shard leaves every other
document where it was. SlimPajama draws with replacement from generators that all readers share
(docs/formats/slimpajama.md "Pass 1", "Defect: epochs are draws with replacement").
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from corpus_assets.mix.repeat import copies
from resources.hashing import keyed_hash


class Identity(msgspec.Struct):
    """The fields of a document that mixing reads."""

    id: str


class Placed(NamedTuple):
    """One use of one document: the chunk it goes to, its stored line, and its row data."""

    chunk: int
    line: bytes
    order: int
    copy: int
    size: int
    digest: bytes


_IDENTITY = msgspec.json.Decoder(Identity)


def scatter(
    rows: Iterable[tuple[bytes, bytes, int]], *, source: str, epochs: float, seed: int, chunks: int
) -> Iterator[Placed]:
    """Yields one `Placed` for every use of the given rows; none for a document that is not used (epochs below 1).

    rows: (line, SHA-256 of the text, bytes of the text) of each document that is kept.
    """
    for line, digest, size in rows:
        identifier = _IDENTITY.decode(line).id
        for copy in range(copies(epochs, seed, source, identifier)):
            chunk = keyed_hash("chunk", seed, source, identifier, copy) % chunks
            order = keyed_hash("order", seed, source, identifier, copy)
            yield Placed(chunk, line, order, copy, size, digest)
