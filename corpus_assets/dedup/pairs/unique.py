"""Unique candidate pairs over all bands, by range of the later document, in bounded memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, Span, document_dtype
from resources.spill import Buckets, Spill

_KEY_BITS = 64
_WORKING_BYTES = 40


@dataclass(frozen=True)
class _Coding:
    """A pair within a range of later documents as one integer that sorts by later, then by first document.

    start: the first number of the first range.
    """

    total: int
    range_rows: int
    start: int = 0

    def __post_init__(self) -> None:
        if self.range_rows < 1:
            raise ValueError(f"ranges of {self.range_rows} documents; valid: 1 or more")
        if self.bits + (self.range_rows - 1).bit_length() > _KEY_BITS:
            raise ValueError(
                f"{self.total} documents in ranges of {self.range_rows} do not fit 64 bits; use smaller ones"
            )

    @property
    def bits(self) -> int:
        """Bits of a first document's number."""
        return max(self.total - 1, 1).bit_length()

    def pack(self, pairs: Edges) -> tuple[NDArray[np.unsignedinteger], NDArray[np.uint64]]:
        """Returns the range of each pair, and its key within the range."""
        first, later = pairs[:, 0], pairs[:, 1]
        if len(pairs) and not ((first < later).all() and self.start <= later.min() and later.max() < self.total):
            wrong = pairs[(first >= later) | (later < self.start) | (later >= self.total)][0].tolist()
            documents = f"documents {self.start} to {self.total}" if self.start else f"{self.total} documents"
            raise ValueError(f"pair {wrong}: valid is [first, later], first before later, of {documents}")
        # With 32-bit numbers there are fewer than 2^32 documents, and a range is no longer than the corpus.
        rows = later.dtype.type(min(self.range_rows, max(self.total, 1)))
        later = later - later.dtype.type(self.start)
        numbers = later // rows
        keys = (later - numbers * rows).astype(np.uint64)
        keys <<= np.uint64(self.bits)
        keys |= first
        return numbers, keys

    def unpack(self, number: int, keys: NDArray[np.uint64]) -> Edges:
        """Returns the pairs (n, 2) of keys in the range of that number."""
        pairs = np.empty((len(keys), 2), dtype=document_dtype(self.total))
        pairs[:, 0] = keys & np.uint64((1 << self.bits) - 1)
        pairs[:, 1] = (keys >> np.uint64(self.bits)) + np.uint64(self.start + number * self.range_rows)
        return pairs


def unique_pairs(
    blocks: Iterable[Edges], total: int, range_rows: int, *, memory: int, spill: Spill, span: Span | None = None
) -> Iterator[tuple[int, Edges]]:
    """Yields each pair of `blocks` (m, 2) once, as (range, pairs (k, 2)), sorted by later, then first document.

    A pair is [first, later] with first < later < `total`, else `ValueError`. Range r is that of later documents r *
    `range_rows` to (r + 1) * `range_rows`. Ranges ascend; one may come in several blocks, so that the pairs,
    concatenated, are sorted as a whole; they depend neither on `memory` (bytes of working set) nor on the cuts or order
    of `blocks`. `dtype`: of the document numbers. span: first number and one past the last of all later documents;
    ranges are counted from its start.
    """
    start, stop = span or (0, total)
    coding = _Coding(total, range_rows, start)
    with Buckets(-(-(stop - start) // range_rows), np.uint64, memory // 2, spill) as buckets:
        for block in blocks:
            buckets.append(*coding.pack(block))
        for number in range(len(buckets)):
            for keys in _sorted_unique(buckets, number, coding, memory // 2):
                yield number, coding.unpack(number, keys)


def _sorted_unique(buckets: Buckets, number: int, coding: _Coding, memory: int) -> Iterator[NDArray[np.uint64]]:
    """Yields the distinct keys of a bucket, ascending; reads a too large bucket once per slice of its range."""
    size = buckets.size(number)
    slices = min(-(-size * _WORKING_BYTES // max(memory, 1)), coding.range_rows)
    step = -(-coding.range_rows // max(slices, 1)) << coding.bits
    for place in range(slices):
        low, high = place * step, min((place + 1) * step, 1 << _KEY_BITS) - 1
        keys = _between(buckets.rows(number), low, high) if slices > 1 else list(buckets.rows(number))
        if keys:
            yield _unique(np.concatenate(keys))


def _between(blocks: Iterable[NDArray[Any]], low: int, high: int) -> list[NDArray[np.uint64]]:
    """Returns the keys between `low` and `high`, both included."""
    inside = (keys[(keys >= np.uint64(low)) & (keys <= np.uint64(high))] for keys in blocks)
    return [keys for keys in inside if len(keys)]


def _unique(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns the distinct keys of an array that has any, ascending; sorts in place."""
    keys.sort()
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]
