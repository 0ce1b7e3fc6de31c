"""A sample of the removed documents of each source and band of similarity, the same for the same seed."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from corpus_assets.audit.removed import Deduplicated, Removed
from corpus_assets.dedup.signatures.one_permutation import mix64
from corpus_assets.report.audit.result import BARS
from resources.hashing import keyed_hash

Stratum = tuple[str, int]
"""A source, and the number of a band."""


@dataclass
class Counted:
    """The removed documents of a source: all, those with the text of the kept one, the others by band and by bar.

    held: those that went because the kept one holds them, by the share that it has, in the same bars.
    """

    removed: int = 0
    equal: int = 0
    bands: dict[int, int] = field(default_factory=dict)
    bars: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BARS, dtype=np.int64))
    held: NDArray[np.int64] = field(default_factory=lambda: np.zeros(BARS, dtype=np.int64))


@dataclass(frozen=True)
class Chosen:
    """A removed document of the sample, and the one kept instead, as numbers.

    similarity: estimated, 0 to 1. held: the share of its shingles that the kept one has if it went for that; else 0.
    """

    document: int
    kept: int
    source: str
    band: int
    similarity: float
    held: float


class Sample:
    """Counts removed documents, and chooses so many of each stratum by hashes of their places and the seed.

    Documents with the very text of the kept one are counted only: there is nothing to judge.
    """

    def __init__(self, found: Deduplicated, size: int, seed: int) -> None:
        self._found, self._size = found, size
        self._names = list(dict.fromkeys(found.numbering.sources))
        self._source = np.array([self._names.index(name) for name in found.numbering.sources], dtype=np.int64)
        self._salt = np.uint64(keyed_hash("audit dedup", seed))
        self._held: dict[int, Removed] = {}
        self.counted = {name: Counted() for name in self._names}
        for block in found.removed():
            self._add(block)

    def chosen(self) -> Iterator[Chosen]:
        """Yields the sample, by source and band."""
        for stratum, held in sorted(self._held.items()):
            source, band = divmod(stratum, len(self._found.bands.names))
            for document, kept, similarity, _, share in zip(*held, strict=True):
                yield Chosen(int(document), int(kept), self._names[source], band, float(similarity), float(share))

    def _add(self, block: Removed) -> None:
        sources = self._source[self._found.numbering.shards_of(block.documents)]
        bands = self._found.bands.of(block)
        bars, bars_held = map(_bars, (block.similarity, block.held))
        for place, name in enumerate(self._names):
            ours = sources == place
            near = ours & ~block.equal
            counted = self.counted[name]
            counted.removed += int(ours.sum())
            counted.equal += int((ours & block.equal).sum())
            counted.bars += np.bincount(bars[near], minlength=BARS)
            counted.held += np.bincount(bars_held[near & (block.held > 0)], minlength=BARS)
            for band, count in zip(*np.unique(bands[near], return_counts=True), strict=True):
                counted.bands[int(band)] = counted.bands.get(int(band), 0) + int(count)
        strata = sources * len(self._found.bands.names) + bands
        for stratum in np.unique(strata[~block.equal]).tolist():
            self._offer(stratum, block.at((strata == stratum) & ~block.equal))

    def _offer(self, stratum: int, block: Removed) -> None:
        """Keeps those with the smallest hashes of what is held and offered."""
        if stratum in self._held:
            block = self._held[stratum].and_those(block)
        order = np.argsort(self._hashes(block.documents), kind="stable")[: self._size]
        self._held[stratum] = block.at(order)

    def _hashes(self, documents: NDArray[np.unsignedinteger]) -> NDArray[np.uint64]:
        numbering = self._found.numbering
        shards = numbering.shards_of(documents)
        return mix64(numbering.key_hashes[shards] ^ mix64(numbering.rows_of(documents, shards) ^ self._salt))


def _bars(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns the bar of each value, 0 to 1."""
    return np.minimum((values * BARS).astype(np.int64), BARS - 1)
