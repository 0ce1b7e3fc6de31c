"""Exact duplicates: documents whose texts have equal digests."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.dedup.documents.numbering import Documents, Edges
from corpus_assets.dedup.documents.ranges import DIGEST_BYTES
from corpus_assets.dedup.pairs.equal_keys import equal_rows
from resources.spill import Spill

_WORDS = DIGEST_BYTES // 8

Digests = NDArray[np.uint8]
"""SHA-256 digests, shape (n, 32)."""


def exact_pairs(
    texts: Iterable[tuple[Digests, Documents]], *, memory: int, spill: Spill, dtype: DTypeLike = np.uint32
) -> Iterator[Edges]:
    """Yields edges (m, 2) of [first document, later document] between documents with equal digests.

    `texts` are blocks of digests (n, 32) and the numbers (n,) of their documents, as `dtype`; those of documents with
    equal digests ascend. All 32 bytes count. The edges, concatenated, are ordered by digest, then later document.
    `memory` and `spill` are those of `star_pairs`.
    """
    keyed = ((_words(digests), documents) for digests, documents in texts)
    return equal_rows(keyed, memory=memory, spill=spill, words=_WORDS, dtype=dtype)


def _words(digests: Digests) -> NDArray[np.uint64]:
    """Returns the digests as four 64-bit words that sort like their bytes."""
    return np.ascontiguousarray(digests).view(">u8").astype(np.uint64)
