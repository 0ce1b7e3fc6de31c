"""Exact duplicates: documents whose texts have equal digests."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.dedup.documents.numbering import Edges
from corpus_assets.dedup.pairs.equal_keys import equal_rows
from resources.spill import Spill

DIGEST_BYTES = 32
_WORDS = DIGEST_BYTES // 8


def exact_pairs(
    shards: Iterable[tuple[NDArray[np.uint8], NDArray[np.bool_]]],
    *,
    memory: int,
    spill: Spill,
    dtype: DTypeLike = np.uint32,
) -> Iterator[Edges]:
    """Yields edges (m, 2) of [first document, later document] between documents with equal digests.

    `shards` are the SHA-256 digests (n, 32) of one shard's texts each, and which of them take part (n,), in canonical
    order; rows are numbered through all of them from 0, as `dtype`. All 32 bytes count. The edges, concatenated, are
    ordered by digest, then later document. `memory`, `spill` and errors are those of `star_pairs`.
    """
    keyed = ((_words(digests), takes_part) for digests, takes_part in shards)
    return equal_rows(keyed, memory=memory, spill=spill, words=_WORDS, dtype=dtype)


def _words(digests: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Returns the digests as four 64-bit words that sort like their bytes."""
    return np.ascontiguousarray(digests).view(">u8").astype(np.uint64)
