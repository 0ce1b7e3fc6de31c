"""Document numbers: consecutive through all shards in canonical order, so that integers are enough for dedup."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from resources.hashing import keyed_hash

Documents = NDArray[np.unsignedinteger]
"""Document numbers, of the type given by `document_dtype`."""

Edges = NDArray[np.unsignedinteger]
"""Pairs of document numbers, shape (pairs, 2)."""

Span = tuple[int, int]
"""The first of consecutive document numbers, and one past the last."""

Clusters = NDArray[np.unsignedinteger]
"""Rows of (member, kept, size of the cluster), sorted by member; shape (members, 3), of the type of the numbers."""


def document_dtype(total: int) -> np.dtype[Any]:
    """Returns the type of the numbers of `total` documents: uint32 while `total` is under 2^32, else uint64."""
    return np.dtype(np.uint32) if total < 1 << 32 else np.dtype(np.uint64)


def pair_type(numbers: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of a pair of document numbers as one value."""
    return np.dtype([("pair", numbers, (2,))])


@dataclass(frozen=True)
class Numbering:
    """The numbers of each shard's rows. `starts` has one entry more than `shards`."""

    shards: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int]]) -> "Numbering":
        """Numbers the rows of (shard key, rows) in the given order."""
        shards, counts = [], [0]
        for shard, count in rows:
            shards.append(shard)
            counts.append(counts[-1] + count)
        return cls(tuple(shards), tuple(counts))

    @property
    def total(self) -> int:
        """Number of documents."""
        return self.starts[-1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the document numbers."""
        return document_dtype(self.total)

    @cached_property
    def bounds(self) -> NDArray[np.uint64]:
        """`starts` as an array, which must not be changed."""
        return np.asarray(self.starts, dtype=np.uint64)

    def table(self) -> list[dict[str, Any]]:
        """Returns the numbering as plain rows."""
        sizes = np.diff(self.starts).tolist()
        return [{"shard": shard, "rows": size} for shard, size in zip(self.shards, sizes, strict=True)]

    def has(self, shard: str) -> bool:
        """Returns whether the rows of a shard have numbers."""
        return shard in self._positions

    def first(self, shard: str) -> int:
        """Returns the number of a shard's first row; `KeyError` for a shard without numbers."""
        return self.starts[self._positions[shard]]

    def rows(self, shard: str) -> int:
        """Returns the number of a shard's rows; `KeyError` for a shard without numbers."""
        position = self._positions[shard]
        return self.starts[position + 1] - self.starts[position]

    def locate(self, number: int) -> tuple[str, int]:
        """Returns the shard key and the row of a document number."""
        shard = int(self.shards_of(np.array([number], dtype=np.uint64))[0])
        return self.shards[shard], number - self.starts[shard]

    def shards_of(self, documents: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
        """Returns the position in `shards` of each document number's shard."""
        return np.searchsorted(self.bounds.astype(documents.dtype), documents, side="right") - 1

    def rows_of(self, documents: NDArray[np.unsignedinteger], shards: NDArray[np.int64]) -> NDArray[np.unsignedinteger]:
        """Returns the row of each document within its shard, as uint64; `shards` are their `shards_of`."""
        return documents.astype(np.uint64) - self.bounds[shards]

    def block(self, clusters: Clusters, shard: str) -> Clusters:
        """Returns the rows of `clusters` whose members lie in one shard."""
        position = self._positions[shard]
        # With numbers of another type numpy would convert the whole column first.
        bounds = self.bounds[position : position + 2].astype(clusters.dtype)
        start, end = np.searchsorted(clusters[:, 0], bounds)
        return clusters[start:end]

    def rows_by_shard(self, documents: NDArray[np.unsignedinteger]) -> Iterator[NDArray[np.int64]]:
        """Yields, shard by shard, the rows there of those documents (ascending) that lie in it."""
        cuts = np.searchsorted(documents, self.bounds[:-1].astype(documents.dtype)).tolist()
        nothing = np.empty(0, dtype=np.int64)
        for start, (low, high) in zip(self.starts, pairwise([*cuts, len(documents)]), strict=False):
            yield documents[low:high].astype(np.int64) - start if high > low else nothing

    def described(self, document: int) -> dict[str, str | int]:
        """Returns a document as people name it: source, shard and row; and the name of its cluster."""
        shard, row = self.locate(document)
        return {"source": shard_source(shard), "shard": shard, "row": row, "cluster": cluster_id(shard, row)}

    @cached_property
    def sources(self) -> list[str]:
        """Source of each shard."""
        return [shard_source(shard) for shard in self.shards]

    def by_source(self, documents: NDArray[np.unsignedinteger]) -> dict[str, int]:
        """Returns how many of these documents each source has; leaves out sources without any."""
        counts = np.bincount(self.shards_of(documents), minlength=len(self.shards))
        return _added(self.sources, counts.tolist())

    def by_source_of_shard(self, counts: Iterable[int]) -> dict[str, int]:
        """Returns a count per shard added up by source; leaves out sources without any."""
        return _added(self.sources, counts)

    @cached_property
    def key_hashes(self) -> NDArray[np.uint64]:
        """A hash of each shard key."""
        hashes = (keyed_hash("shard", 0, shard) for shard in self.shards)
        return np.fromiter(hashes, dtype=np.uint64, count=len(self.shards))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {shard: position for position, shard in enumerate(self.shards)}


def removal_rows(
    numbering: Numbering, removed: NDArray[np.unsignedinteger], kept: NDArray[np.unsignedinteger], *more: NDArray[Any]
) -> NDArray[np.uint64]:
    """Returns facts about removed documents (n,) and those kept instead, shape (n, 3 + columns of `more`), uint64.

    They do not depend on document numbers: row of the removed document in its shard, hash of the kept document's shard
    key, its row there.
    """
    shards = numbering.shards_of(kept)
    names = numbering.key_hashes[shards]
    rows = numbering.rows_of(removed, numbering.shards_of(removed))
    columns = (rows, names, numbering.rows_of(kept, shards), *(column.astype(np.uint64) for column in more))
    return np.stack(columns, axis=1)


class ShardMarks:
    """A digest per shard of facts about its documents, in document order, independent of the blocks."""

    def __init__(self, numbering: Numbering) -> None:
        self._numbering = numbering
        self._hashes: dict[int, Any] = {}

    def add(self, documents: NDArray[np.unsignedinteger], rows: NDArray[np.uint64]) -> None:
        """Adds the facts of documents (n,), ascending: rows (n, columns)."""
        shards = self._numbering.shards_of(documents)
        cuts = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)]
        for start, end in pairwise(cuts):
            if end > start:
                hasher = self._hashes.setdefault(int(shards[start]), xxhash.xxh3_128())
                hasher.update(np.ascontiguousarray(rows[start:end]).tobytes())

    def digests(self) -> dict[str, str]:
        """Returns the digest by shard key, for shards with any facts."""
        return {self._numbering.shards[position]: hasher.hexdigest() for position, hasher in self._hashes.items()}


def shard_source(shard: str) -> str:
    """Returns the source in a shard's key."""
    return shard.partition("--")[0]


def cluster_id(shard: str, row: int) -> str:
    """Returns the name of the cluster of this kept document: 16 hex digits, independent of other shards."""
    return f"{keyed_hash('cluster', 0, shard, row):016x}"


def _added(names: Sequence[str], counts: Iterable[int]) -> dict[str, int]:
    """Returns the counts added up by name, without those of 0."""
    found: dict[str, int] = {}
    for name, count in zip(names, counts, strict=True):
        if count:
            found[name] = found.get(name, 0) + int(count)
    return found
