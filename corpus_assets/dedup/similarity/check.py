"""From candidates to duplicate pairs: each pair once, checked as the configuration says."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, document_dtype
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import Agreements, least_agreement
from corpus_assets.dedup.similarity.jaccard import exact_similarities, wanted
from corpus_assets.dedup.similarity.sketch_join import Load, agreements, range_rows
from resources.spill import Spill

Texts = Callable[[NDArray[np.uint8]], Iterable[tuple[int, str]]]
"""(document number, text) of the documents a bitmap of `wanted` has, numbers ascending."""

Check = Literal["none", "signature", "two_sided", "exact"]

_HOPELESS = 5
"""Standard errors below the threshold at which a pair is not worth its texts: so far off once in three million."""
_OPEN = 3
"""Standard errors on either side of the threshold within which a sketch leaves a pair open: beyond once in 740."""
_BLOCK_PAIRS = 1 << 18


def away(threshold: float, bits: int, errors: float) -> float:
    """Returns the estimate that lies so many standard errors above `threshold` (below if negative), -1 to 1.

    The standard error of an estimate from so many bits is sqrt((1 - J^2) / bits). Texts with fewer shingles than bits
    have bins that repeat each other: theirs is up to a third larger.
    """
    return float(min(max(threshold + errors * ((1 - threshold**2) / bits) ** 0.5, -1.0), 1.0))


def surely_above(threshold: float, bits: int) -> float:
    """Returns the estimate from which on a sketch alone says that a pair reaches the threshold."""
    return away(threshold, bits, _OPEN)


@dataclass
class Verification:
    """One pass over the candidates of `total` documents. `candidates` counts the different ones as they go by."""

    total: int
    sketches: Load
    bits: int
    texts: Texts
    scheme: SignatureScheme
    threshold: float
    memory: int
    spill: Spill
    candidates: int = 0

    def pairs(self, candidates: Iterable[Edges], how: Check) -> Iterator[Edges]:
        """Yields blocks of the pairs (k, 2) that pass, in an order that depends only on the pairs and the scheme."""
        if how == "none":
            return (pairs for _, pairs in self._unique(candidates))
        if how == "signature":
            least = least_agreement(self.threshold, self.bits)
            return (pairs[agree >= least] for pairs, agree in self._agreements(candidates))
        if how == "exact":
            return self._by_text(candidates, -_HOPELESS, None)
        return self._by_text(candidates, -_OPEN, _OPEN)

    def _unique(self, candidates: Iterable[Edges]) -> Iterator[tuple[int, Edges]]:
        rows = range_rows(self.bits)
        for number, pairs in unique_pairs(candidates, self.total, rows, memory=self.memory // 2, spill=self.spill):
            self.candidates += len(pairs)
            yield number, pairs

    def _agreements(self, candidates: Iterable[Edges]) -> Iterator[tuple[Edges, Agreements]]:
        rows, half = range_rows(self.bits), self.memory // 2
        return agreements(self._unique(candidates), self.sketches, self.total, rows, memory=half, spill=self.spill)

    def _by_text(self, candidates: Iterable[Edges], low: float, high: float | None) -> Iterator[Edges]:
        """Reads the texts of pairs whose estimate is from `low` to below `high` standard errors off the threshold.

        Pairs above pass, those below do not; without `high` no pair passes by its sketches.
        """
        least = least_agreement(away(self.threshold, self.bits, low), self.bits)
        enough = self.bits + 1
        if high is not None:
            enough = least_agreement(away(self.threshold, self.bits, high), self.bits)
        with self.spill() as file:
            for pairs, agree in self._agreements(candidates):
                yield pairs[agree >= enough]
                file.write(np.ascontiguousarray(pairs[(agree >= least) & (agree < enough)]).tobytes())
            texts = self.texts(wanted(self._stored(file), self.total))
            similar = exact_similarities(self._stored(file), texts, self.scheme, memory=self.memory, spill=self.spill)
            for pairs, jaccard in similar:
                yield pairs[jaccard >= self.threshold]

    def _stored(self, file: BinaryIO) -> Iterator[Edges]:
        dtype = document_dtype(self.total)
        file.seek(0)
        while raw := file.read(_BLOCK_PAIRS * 2 * dtype.itemsize):
            yield np.frombuffer(raw, dtype=dtype).reshape(-1, 2)
