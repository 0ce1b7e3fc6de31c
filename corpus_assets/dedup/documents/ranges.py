"""Ranges of text digests and of document numbers: each is one partition of a stage over the whole corpus."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Span, document_dtype

DIGEST_BYTES = 32
_LEADING_BITS = 64


@dataclass(frozen=True)
class DocumentRanges:
    """`count` ranges of the numbers of `total` documents, all equally wide; the last ones may be shorter or empty."""

    total: int
    count: int

    @property
    def width(self) -> int:
        """Numbers in a range."""
        return max(-(-self.total // self.count), 1)

    def span(self, number: int) -> Span:
        """Returns the first number in a range, and one past its last."""
        return min(number * self.width, self.total), min((number + 1) * self.width, self.total)

    def of(self, documents: NDArray[np.unsignedinteger]) -> NDArray[np.unsignedinteger[Any]]:
        """Returns the range of each document number."""
        return documents // documents.dtype.type(self.width)


def digest_rows(rows: int) -> np.dtype[Any]:
    """Returns the type of (digest, row) of a text in a shard of so many rows."""
    return np.dtype([("digest", np.uint8, (DIGEST_BYTES,)), ("row", document_dtype(rows))])


def by_digest(
    digests: NDArray[np.uint8], takes_part: NDArray[np.bool_], count: int
) -> tuple[NDArray[np.void], list[int]]:
    """Returns the (digest, row) of the included texts, by range of digest, and the start of each range.

    `digests` (n, 32) and `takes_part` (n,) are those of a shard's rows; ranges share the values of the first eight
    bytes equally. The starts are `count` + 1 numbers. Within a range texts are sorted by these bytes, then by row.
    """
    rows = np.flatnonzero(takes_part)
    chosen = np.ascontiguousarray(digests[rows])
    leading = chosen[:, :8].copy().view(">u8").astype(np.uint64).reshape(-1)
    order = np.argsort(leading, kind="stable")
    table = np.empty(len(rows), dtype=digest_rows(len(digests)))
    table["digest"], table["row"] = chosen[order], rows[order]
    firsts = [-(-(number << _LEADING_BITS) // count) for number in range(1, count)]
    cuts = np.searchsorted(leading[order], np.array(firsts, dtype=np.uint64)).tolist()
    return table, [0, *cuts, len(rows)]
