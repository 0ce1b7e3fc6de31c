"""Which shingles at least a share of a source's documents have: exactly, without counting all shingles.

Two tables of buckets count documents, by different bits of the hash: a shingle has no more documents than its buckets
(count-min; Cormode and Muthukrishnan 2005). A file leaves out buckets with less than a quarter of the documents asked
for, so the sum over files lacks less than a quarter: a shingle that counts is in buckets with three quarters or more.
Only shingles in such buckets are counted one by one.
"""

from collections.abc import Iterable, Iterator
from math import ceil

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.counting import counted
from corpus_assets.dedup.signatures.cleaned_text import clean_batch
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from resources.formats.texts import Texts

BUCKETS = 1 << 20
FEWEST = 20
"""Documents of a source of which a template is looked for."""

_LEFT_OUT = 0.25
_MOST_OF_BUCKETS = 1 / 8

Counts = NDArray[np.void]
"""Rows of a bucket, those of the second table after those of the first, or of a shingle's hash; and of documents."""

BUCKET_ROW = np.dtype([("bucket", "<u4"), ("documents", "<u4")])
HASH_ROW = np.dtype([("hash", "<u8"), ("documents", "<u4")])


def bucket_counts(texts: Iterable[Texts], scheme: SignatureScheme, share: float) -> tuple[Counts, int]:
    """Returns buckets of a file with enough documents for `share` (`BUCKET_ROW`), and the documents with a shingle."""
    from corpus_assets.dedup.kernels.template import count_buckets

    counts, last = np.zeros((2, BUCKETS), dtype=np.uint32), np.zeros((2, BUCKETS), dtype=np.uint32)
    first = documents = 0
    for batch in texts:
        cleaned, bounds = clean_batch(batch)
        documents += count_buckets((cleaned, bounds), shingling_of(scheme), np.uint32(first), (counts, last))
        first += len(bounds) - 1
    found = np.flatnonzero(counts >= max(_LEFT_OUT * share * documents, 1))
    rows = np.empty(len(found), dtype=BUCKET_ROW)
    rows["bucket"], rows["documents"] = found, counts.reshape(-1)[found]
    return rows, documents


def chosen_buckets(files: Iterable[Counts], documents: int, share: float) -> NDArray[np.bool_] | None:
    """Returns the buckets (2, BUCKETS) in which shingles with enough of a source's documents may lie.

    None if the documents are so long that too many buckets are.
    """
    total = np.zeros(2 * BUCKETS, dtype=np.int64)
    for rows in files:
        total[rows["bucket"]] += rows["documents"]
    chosen = (total >= max((1 - _LEFT_OUT) * share * documents, 1)).reshape(2, BUCKETS)
    return None if chosen.mean(axis=1).min() > _MOST_OF_BUCKETS else chosen


def shingle_counts(texts: Iterable[Texts], scheme: SignatureScheme, chosen: NDArray[np.bool_]) -> Counts:
    """Returns the shingles of a file in chosen buckets, and how many documents have each (`HASH_ROW`)."""
    hashes, counts = np.empty(0, np.uint64), np.empty(0, np.int64)
    for found in _shingles(texts, scheme, chosen):
        hashes, counts = counted(hashes, counts, found)
    rows = np.empty(len(hashes), dtype=HASH_ROW)
    rows["hash"], rows["documents"] = hashes, counts
    return rows


def frequent(files: Iterable[Counts], documents: int, share: float) -> NDArray[np.uint64]:
    """Returns the hashes of the shingles that a share of a source's documents have, ascending."""
    rows = np.concatenate([np.empty(0, dtype=HASH_ROW), *files])
    hashes, places = np.unique(rows["hash"], return_inverse=True)
    total = np.bincount(places, rows["documents"], len(hashes))
    return hashes[total >= ceil(share * documents - 1e-9)]


def shingling_of(scheme: SignatureScheme) -> tuple[int, int]:
    """Returns the units of shingles as kernels take them: 1 for words, and the width."""
    return int(scheme.unit == "word"), scheme.width


def _shingles(
    texts: Iterable[Texts], scheme: SignatureScheme, chosen: NDArray[np.bool_]
) -> Iterator[NDArray[np.uint64]]:
    """Yields hashes of shingles, each once for each document of a batch that has it."""
    from corpus_assets.dedup.kernels.template import of_buckets

    for batch in texts:
        cleaned, bounds = clean_batch(batch)
        count = len(bounds) - 1
        # Pages that are not written take no memory.
        hashes, ends = np.empty(len(cleaned), dtype=np.uint64), np.empty(count, dtype=np.int64)
        of_buckets((cleaned, bounds), shingling_of(scheme), chosen, hashes, ends)
        hashes = hashes[: ends[-1] if count else 0]
        documents = np.repeat(np.arange(count), np.diff(ends, prepend=0))
        order = np.lexsort((documents, hashes))
        hashes, documents = hashes[order], documents[order]
        new = np.ones(len(hashes), dtype=np.bool_)
        new[1:] = (hashes[1:] != hashes[:-1]) | (documents[1:] != documents[:-1])
        yield hashes[new]
