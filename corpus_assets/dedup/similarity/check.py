"""From candidates to duplicate pairs: each pair once, checked as the configuration says."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, document_dtype
from corpus_assets.dedup.documents.spill import Spill
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import least_agreement
from corpus_assets.dedup.similarity.jaccard import exact_similarities, wanted
from corpus_assets.dedup.similarity.sketch_join import Load, agreements, range_rows

Texts = Callable[[NDArray[np.uint8]], Iterable[tuple[int, str]]]
"""(document number, text) of the documents a bitmap of `wanted` has, numbers ascending."""

_STANDARD_ERRORS = 5
_BLOCK_PAIRS = 1 << 18


def sure_threshold(threshold: float, bits: int) -> float:
    """Returns an estimate so low that a pair of similarity `threshold` is below it only once in three million.

    Five standard errors of the estimate from so many bits, sqrt((1 - J^2) / bits). Texts with fewer shingles than bits
    have bins that repeat each other: theirs is up to a third larger.
    """
    return float(max(threshold - _STANDARD_ERRORS * ((1 - threshold**2) / bits) ** 0.5, -1.0))


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

    def pairs(self, candidates: Iterable[Edges], how: Literal["none", "signature", "exact"]) -> Iterator[Edges]:
        """Yields blocks of the pairs (k, 2) that pass, in an order that depends only on the pairs and the scheme."""
        if how == "none":
            return (pairs for _, pairs in self._unique(candidates))
        if how == "signature":
            return self._by_signature(candidates, self.threshold)
        return self._by_text(candidates)

    def _unique(self, candidates: Iterable[Edges]) -> Iterator[tuple[int, Edges]]:
        rows = range_rows(self.bits)
        for number, pairs in unique_pairs(candidates, self.total, rows, memory=self.memory // 2, spill=self.spill):
            self.candidates += len(pairs)
            yield number, pairs

    def _by_signature(self, candidates: Iterable[Edges], threshold: float) -> Iterator[Edges]:
        least = least_agreement(threshold, self.bits)
        unique = self._unique(candidates)
        for pairs, agree in agreements(
            unique, self.sketches, self.total, range_rows(self.bits), memory=self.memory // 2, spill=self.spill
        ):
            yield pairs[agree >= least]

    def _by_text(self, candidates: Iterable[Edges]) -> Iterator[Edges]:
        """Reads texts only for pairs whose estimate is at most five standard errors below the threshold."""
        with self.spill() as file:
            for block in self._by_signature(candidates, sure_threshold(self.threshold, self.bits)):
                file.write(np.ascontiguousarray(block).tobytes())
            texts = self.texts(wanted(self._stored(file), self.total))
            similar = exact_similarities(self._stored(file), texts, self.scheme, memory=self.memory, spill=self.spill)
            for pairs, jaccard in similar:
                yield pairs[jaccard >= self.threshold]

    def _stored(self, file: BinaryIO) -> Iterator[Edges]:
        dtype = document_dtype(self.total)
        file.seek(0)
        while raw := file.read(_BLOCK_PAIRS * 2 * dtype.itemsize):
            yield np.frombuffer(raw, dtype=dtype).reshape(-1, 2)
