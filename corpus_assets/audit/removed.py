"""The documents that deduplication removed, each with the one kept instead and how similar the two are."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.numbers import shares_of
from corpus_assets.dedup.containment.shared import HELD, UNITS
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Documents, Numbering
from corpus_assets.dedup.shared import stored_numbering, stored_scheme
from corpus_assets.dedup.signatures.scheme import Sketched
from corpus_assets.dedup.signatures.sketches import estimate
from corpus_assets.report.audit.result import build_of
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import TEXTS
from resources.errors import ConfigError, NotBuiltError
from resources.formats.row_tables import TEXT
from resources.stage.partition import Partition

COMPONENTS, MINHASHES = "components", "minhashes"
_BLOCK = 1 << 16
_BANDS = 4
CONTAINED = "contained"
"""The band of documents that went because the kept one holds them."""


class Removed(NamedTuple):
    """A block of removed documents (n,), ascending, and those kept instead.

    similarity: estimated from sketches, 0 to 1. equal: whether both have the same text. held: the share of its
    shingles that the kept one has, of a document that went for that reason; 0 of others.
    """

    documents: Documents
    kept: Documents
    similarity: NDArray[np.float64]
    equal: NDArray[np.bool_]
    held: NDArray[np.float64]

    def at(self, places: NDArray[np.bool_] | NDArray[np.intp]) -> "Removed":
        """Returns some of them, by position or mask."""
        similarity, held = self.similarity[places], self.held[places]
        return Removed(self.documents[places], self.kept[places], similarity, self.equal[places], held)

    def and_those(self, more: "Removed") -> "Removed":
        """Returns these and others after them."""
        documents, kept = (np.concatenate(both) for both in ((self.documents, more.documents), (self.kept, more.kept)))
        similarity, held = (
            np.concatenate(both) for both in ((self.similarity, more.similarity), (self.held, more.held))
        )
        return Removed(documents, kept, similarity, np.concatenate([self.equal, more.equal]), held)


@dataclass(frozen=True)
class Bands:
    """Bands of similarity: one below the threshold, and four as wide as each other from it to 1.

    contained: whether documents went because the kept one holds them; they have a band of their own, the last one.
    """

    threshold: float
    contained: bool = False

    @cached_property
    def starts(self) -> list[float]:
        """The least similarity of each band but the first."""
        return sorted({round(self.threshold + place * (1 - self.threshold) / _BANDS, 4) for place in range(_BANDS)})

    @property
    def names(self) -> list[str]:
        """The bands in words."""
        ends = [*self.starts[1:], 1.0]
        within = [f"{start:g} to {end:g}" for start, end in zip(self.starts, ends, strict=True)]
        return [f"under {self.starts[0]:g}", *within, *([CONTAINED] if self.contained else [])]

    def of(self, removed: Removed) -> NDArray[np.int64]:
        """Returns the number of the band of each document."""
        bands = np.searchsorted(np.array(self.starts), removed.similarity, side="right")
        return np.where(removed.held > 0, len(self.starts) + 1, bands)


class Deduplicated:
    """What is stored of the search for near-duplicates of a corpus.

    `ConfigError` if the corpus looks for none, `NotBuiltError` if it is not built.
    """

    def __init__(self, look: Look) -> None:
        if not look.has(COMPONENTS):
            raise ConfigError("this corpus has no sources, so nothing is looked through for near-duplicates")
        components = look.partition(COMPONENTS, None)
        if components is None:
            raise NotBuiltError(COMPONENTS, None, "near-duplicates were not looked for yet; run `corpus build`")
        self.look, self.components = look, components
        self.numbering: Numbering = stored_numbering(components)
        shards = self.numbering.shards
        self._hashes = [self._shard(MINHASHES, key, ".sketch.npy") for key in shards]
        self._documents = [self._shard(look.documents, key, TEXTS) for key in shards]

    @property
    def build(self) -> str:
        """Identifies the clusters."""
        return build_of(self.components.record)

    @cached_property
    def bands(self) -> Bands:
        """Bands of similarity for the configured threshold."""
        threshold = float(self.look.corpus.settings.values["dedup"]["threshold"])
        return Bands(threshold, self.components.has(HELD))

    @cached_property
    def sketched(self) -> Sketched:
        """The scheme of the sketches."""
        return Sketched.read(stored_scheme(self._hashes))

    @cached_property
    def sketches(self) -> Column:
        """The sketches of all documents."""
        empty = np.empty((0, self.sketched.bits // 8), dtype=np.uint8)
        return Column(self.numbering, lambda place: self._hashes[place].array(".sketch.npy"), empty)

    def removed(self) -> Iterator[Removed]:
        """Yields all removed documents in blocks; each reads the sketches of its documents and no texts."""
        table = self.components.array("clusters.npy")
        for start in range(0, len(table), _BLOCK):
            rows = np.array(table[start : start + _BLOCK])
            rows = rows[rows[:, 0] != rows[:, 1]]
            if len(rows):
                yield self._compared(rows[:, 0], rows[:, 1])

    def documents(self, place: int) -> Partition:
        """Returns the documents of the shard at a position of the numbering."""
        return self._documents[place]

    def _compared(self, documents: Documents, kept: Documents) -> Removed:
        unique, of = np.unique(kept, return_inverse=True)
        own, other = self.sketches.take(documents), self.sketches.take(unique)[of]
        agree = np.bitwise_count(~(own ^ other)).sum(axis=1, dtype=np.int64)
        similarity = np.clip(estimate(agree, self.sketched.bits), 0.0, 1.0)
        equal = agree == self.sketched.bits
        if equal.any():
            texts = Column(self.numbering, lambda place: self._documents[place].array(TEXTS), np.empty(0, TEXT))
            unique, of = np.unique(kept[equal], return_inverse=True)
            digests = texts.take(documents[equal])["digest"], texts.take(unique)["digest"][of]
            equal[equal] = (digests[0] == digests[1]).all(axis=1)
        held = np.zeros(len(documents))
        if self.components.has(HELD):
            held = shares_of(documents, self.components.array(HELD)) / UNITS
        return Removed(documents, kept, similarity, equal, held)

    def _shard(self, asset: str, key: str, suffix: str) -> Partition:
        found, rows = self.look.shard(asset, key), self.numbering.rows(key)
        if (held := found.file(suffix).rows or 0) != rows:
            words = f"{asset}/{key} has {held:,} documents, but {rows:,} were compared; run `corpus build`"
            raise NotBuiltError(COMPONENTS, None, words)
        return found
