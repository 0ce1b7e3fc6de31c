"""Document numbers: consecutive through all shards in canonical order, so that integers are enough for dedup."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.hashing import content_digest

Clusters = NDArray[np.uint32]
"""Rows of (member, kept, size of the cluster), sorted by member; shape (members, 3)."""


@dataclass(frozen=True)
class Numbering:
    """Which numbers each shard's rows have. `starts` has one entry more than `shards`."""

    shards: tuple[str, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, int]]) -> "Numbering":
        """Number the rows of (shard key, rows) in the given order."""
        shards, counts = [], [0]
        for shard, count in rows:
            shards.append(shard)
            counts.append(counts[-1] + count)
        return cls(tuple(shards), tuple(counts))

    @property
    def total(self) -> int:
        """Number of documents."""
        return self.starts[-1]

    def table(self) -> list[dict[str, Any]]:
        """The numbering as plain rows."""
        sizes = np.diff(self.starts).tolist()
        return [{"shard": shard, "rows": size} for shard, size in zip(self.shards, sizes, strict=True)]

    def first(self, shard: str) -> int:
        """Number of a shard's first row."""
        return self.starts[self.shards.index(shard)]

    def locate(self, number: int) -> tuple[str, int]:
        """Shard key and row of a document number."""
        shard = int(np.searchsorted(self.starts, number, side="right")) - 1
        return self.shards[shard], number - self.starts[shard]

    def blocks(self, clusters: Clusters) -> Iterator[tuple[str, Clusters]]:
        """Each shard that has cluster members, with its part of the table."""
        cuts = np.searchsorted(clusters[:, 0], self.starts)
        for shard, start, end in zip(self.shards, cuts[:-1], cuts[1:], strict=True):
            if end > start:
                yield shard, clusters[start:end]

    def block(self, clusters: Clusters, shard: str) -> Clusters:
        """One shard's part of the table."""
        position = self.shards.index(shard)
        start, end = np.searchsorted(clusters[:, 0], self.starts[position : position + 2])
        return clusters[start:end]


def cluster_digest(numbering: Numbering, block: Clusters) -> str:
    """Digest of one shard's clusters that does not change when other shards shift the numbers.

    It names members by row, and kept documents by shard key and row.
    """
    starts = np.asarray(numbering.starts)
    members, kept, sizes = (block[:, column].astype(np.int64) for column in range(3))
    shards = np.searchsorted(starts, kept, side="right") - 1
    own = np.searchsorted(starts, members, side="right") - 1
    names = "\n".join(numbering.shards[shard] for shard in shards)
    rows = ((members - starts[own]).tobytes(), (kept - starts[shards]).tobytes(), sizes.tobytes())
    return content_digest(names.encode(), *rows)
