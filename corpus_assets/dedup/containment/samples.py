"""Samples of the shingles of texts: the same shingle is in the samples of all texts that have it, or of none.

A shingle is sampled if the low bits of its hash are zero (FracMinHash; Irber et al. 2022). So the share of a text's
sample that another text's sample has is an unbiased estimate of the share of its shingles, however long both are.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import document_dtype
from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Unit
from corpus_assets.dedup.signatures.template import NOTHING, table_of
from resources.formats.texts import Texts

EVERY: dict[Unit, int] = {"char": 16, "word": 4}
"""One shingle in so many is sampled. Words are rarer, so more of theirs are."""

ASKED = 32
"""Shingles of a document by which others that hold it are looked for: those with the smallest hashes."""

RARE = 64
"""Shingles that a document also looks for if few larger documents have them."""

SLOTS = 256
_HASH_BITS = 64


def sample_rows(rows: int) -> np.dtype[Any]:
    """Returns the type of a sampled shingle in a shard of so many rows.

    size: shingles in the sample of the document. slot: how many of them have smaller hashes, at most 255.
    """
    return np.dtype([("hash", "<u8"), ("row", document_dtype(rows)), ("size", "<u4"), ("slot", "u1")])


def sampled(
    texts: Iterable[Texts], scheme: SignatureScheme, template: NDArray[np.uint64] = NOTHING
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """Yields for each batch of texts the hashes of their samples, ascending within a text, and the size of each sample.

    template: hashes of shingles that are left out, unless a text has no others.
    Memory per batch: half a byte per byte of text for texts of different shingles.
    """
    from corpus_assets.dedup.kernels.samples import sample

    shingling, mask = (int(scheme.unit == "word"), scheme.width), np.uint64(EVERY[scheme.unit] - 1)
    table = table_of(template)
    for batch in texts:
        cleaned, bounds = clean_batch(batch)
        count = len(bounds) - 1
        # Pages that are not written take no memory.
        hashes, ends = np.empty(len(cleaned), dtype=np.uint64), np.empty(count, dtype=np.int64)
        sample((cleaned, bounds), shingling, (mask, table), hashes, ends)
        hashes = hashes[: ends[-1] if count else 0].copy()
        yield _unique(hashes, np.repeat(np.arange(count), np.diff(ends, prepend=0)), count)


def _unique(
    hashes: NDArray[np.uint64], texts: NDArray[np.int64], count: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    order = np.lexsort((hashes, texts))
    hashes, texts = hashes[order], texts[order]
    first = np.ones(len(hashes), dtype=np.bool_)
    first[1:] = (hashes[1:] != hashes[:-1]) | (texts[1:] != texts[:-1])
    return hashes[first], np.bincount(texts[first], minlength=count)


def rows_of_batch(
    hashes: NDArray[np.uint64], sizes: NDArray[np.int64], first: int, kind: np.dtype[Any]
) -> NDArray[np.void]:
    """Returns the rows (`sample_rows`) of a batch of documents of which the first is row `first` of its shard."""
    starts = np.cumsum(sizes) - sizes
    found = np.empty(len(hashes), dtype=kind)
    found["hash"] = hashes
    found["row"] = np.repeat(np.arange(first, first + len(sizes)), sizes)
    found["size"] = np.repeat(sizes, sizes)
    found["slot"] = np.minimum(np.arange(len(hashes)) - np.repeat(starts, sizes), SLOTS - 1)
    return found


def range_of(hashes: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Returns the range of each hash among `count` equal ones."""
    half = np.uint64(_HASH_BITS // 2)
    return ((hashes >> half) * np.uint64(count) >> half).astype(np.int64)
