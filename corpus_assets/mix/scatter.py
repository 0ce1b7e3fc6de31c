"""Pass 1: sends the stored line of each kept document of a shard to its chunk.

Chunk and order come from a keyed hash of (seed, source, id, copy), so that adding a shard moves no other document.
SlimPajama draws with replacement from generators that all readers share (docs/formats/slimpajama.md "Pass 1", "Defect:
epochs are draws with replacement").
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from corpus_assets.mix.repeat import copies
from resources.hashing import hash_parts, keyed_hasher


class Kept(NamedTuple):
    """A document that is not left out: its id, its stored line, and SHA-256 and bytes of its text.

    times: how often it is used for each epoch of its source. score: for an order by a score.
    """

    id: str
    line: bytes
    digest: bytes
    size: int
    times: float = 1.0
    score: float | None = None


class Placed(NamedTuple):
    """One use of one document: the chunk it goes to, its stored line, and its row data."""

    chunk: int
    line: bytes
    order: int
    copy: int
    size: int
    digest: bytes


def scatter(
    documents: Iterable[Kept],
    *,
    source: str,
    epochs: float,
    seed: int,
    chunks: int,
    place: Callable[[float | None, int], tuple[int, int]] | None = None,
) -> Iterator[Placed]:
    """Yields one `Placed` for every use of the given documents; none for one that is not used (epochs below 1).

    place: chunk and rank of a use in an order by a score, given the score and a hash.
    """
    chunk_hash, order_hash = (keyed_hasher(purpose, seed, source) for purpose in ("chunk", "order"))
    for identifier, line, digest, size, times, score in documents:
        for copy in range(copies(epochs * times, seed, source, identifier)):
            use = hash_parts(identifier, copy)
            if place is None:
                yield Placed(chunk_hash(use) % chunks, line, order_hash(use), copy, size, digest)
                continue
            chunk, rank = place(score, chunk_hash(use))
            yield Placed(chunk, line, ranked(rank, order_hash(use)), copy, size, digest)


def ranked(rank: int, hash_: int) -> int:
    """Returns the number of 64 bits that orders a chunk by rank, and by hash among equal ranks."""
    return rank << 32 | hash_ >> 32


def ranked_as(order: int, hash_: int) -> tuple[int, int]:
    """Returns what orders a use with such a hash in a mix by hash, and in one whose rank is that of `order`."""
    return hash_, ranked(order >> 32, hash_)
