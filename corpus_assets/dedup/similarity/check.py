"""From candidates to duplicate pairs: each pair is checked once, as configured."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges, document_dtype
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.signatures.sketches import Agreements, least_agreement
from corpus_assets.dedup.similarity.jaccard import OfDocument, exact_similarities, wanted
from resources.spill import Spill

Texts = Callable[[NDArray[np.uint8]], Iterable[tuple[int, str]]]
"""(document number, text) of the documents in a bitmap of `wanted`, numbers ascending."""

Check = Literal["signature", "two_sided", "exact"]

_HOPELESS = 5
"""Standard errors below the threshold at which texts are not compared: so far off once in three million."""
_OPEN = 3
"""Standard errors around the threshold within which a sketch does not decide: estimates are beyond once in 740."""
_SELDOM = 1 / 740
_BLOCK_PAIRS = 1 << 18


def away(threshold: float, bits: int, errors: float) -> float:
    """Returns the estimate that lies so many standard errors above `threshold` (below if negative), -1 to 1.

    The standard error of an estimate from so many bits is sqrt((1 - J^2) / bits). Texts with fewer shingles than bits
    have bins that repeat each other: theirs is up to a third larger.
    """
    return float(min(max(threshold + errors * ((1 - threshold**2) / bits) ** 0.5, -1.0), 1.0))


def surely_above(threshold: float, bits: int) -> float:
    """Returns the estimate from which on a sketch alone accepts a pair.

    Infinite near 1, where pairs below the threshold too often have sketches that agree in all bits.
    """
    all_agree = ((1 + threshold) / 2) ** bits
    return away(threshold, bits, _OPEN) if all_agree <= _SELDOM else math.inf


@dataclass(frozen=True)
class Verification:
    """The check of candidates among `total` documents by sketches of so many bits, and by texts.

    on_by_text: called with the number of pairs in a block whose texts are compared. template: shingles left out.
    """

    total: int
    bits: int
    texts: Texts
    scheme: SignatureScheme
    threshold: float
    memory: int
    spill: Spill
    on_by_text: Callable[[int], None] = lambda _: None
    template: OfDocument | None = None

    def pairs(self, compared: Iterable[tuple[Edges, Agreements]], how: Check) -> Iterator[Edges]:
        """Yields blocks of the pairs (k, 2) that pass; pairs decided by their sketches keep the given order.

        `compared`: different pairs with the number of agreeing bits (k,) of their sketches.
        """
        if how == "signature":
            least = least_agreement(self.threshold, self.bits)
            return (pairs[agree >= least] for pairs, agree in compared)
        if how == "exact":
            return self._by_text(compared, -_HOPELESS, math.inf)
        return self._by_text(compared, -_OPEN, surely_above(self.threshold, self.bits))

    def _by_text(self, compared: Iterable[tuple[Edges, Agreements]], low: float, sure: float) -> Iterator[Edges]:
        """Compares the texts of pairs from `low` standard errors off the threshold to an estimate below `sure`.

        Pairs above pass, those below do not.
        """
        least = least_agreement(away(self.threshold, self.bits, low), self.bits)
        enough = least_agreement(sure, self.bits)
        with self.spill() as file:
            for pairs, agree in compared:
                yield pairs[agree >= enough]
                undecided = np.ascontiguousarray(pairs[(agree >= least) & (agree < enough)])
                self.on_by_text(len(undecided))
                file.write(undecided.tobytes())
            texts = self.texts(wanted(self._stored(file), self.total))
            similar = exact_similarities(
                self._stored(file),
                texts,
                self.scheme,
                memory=self.memory,
                spill=self.spill,
                template=self.template,
            )
            for pairs, jaccard in similar:
                yield pairs[jaccard >= self.threshold]

    def _stored(self, file: BinaryIO) -> Iterator[Edges]:
        dtype = document_dtype(self.total)
        file.seek(0)
        while raw := file.read(_BLOCK_PAIRS * 2 * dtype.itemsize):
            yield np.frombuffer(raw, dtype=dtype).reshape(-1, 2)
