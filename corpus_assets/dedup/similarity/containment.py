"""Which share of the shingles of a text another text has, exactly."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Edges
from corpus_assets.dedup.signatures.scheme import SignatureScheme
from corpus_assets.dedup.similarity.jaccard import CleanedTexts, Hashes, OfDocument, ShingleSets
from resources.spill import Spill

_MUCH_LARGER = 8


class Common(NamedTuple):
    """Pairs of documents (n, 2), how many shingles both have, and how many each has: (n,) and (n, 2)."""

    pairs: Edges
    common: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def shares(self) -> NDArray[np.float64]:
        """Returns the share of the shingles of each document that the other one has, (n, 2)."""
        found: NDArray[np.float64] = self.common[:, None] / np.maximum(self.sizes, 1)
        return found


def common_shingles(
    pairs: Iterable[Edges],
    texts: Iterable[tuple[int, str]],
    scheme: SignatureScheme,
    *,
    memory: int,
    spill: Spill,
    template: OfDocument | None = None,
) -> Iterator[Common]:
    """Yields blocks of the pairs (k, 2), in their order, with the number of common shingles.

    Pairs with the same second document come one after another: its set, the larger one, is made once. `texts`,
    memory and template as in `exact_similarities`; a set that does not fit is made a slice at a time.
    """
    with spill() as file:
        cleaned = CleanedTexts(file, texts)
        sets = ShingleSets(cleaned, scheme, memory, template)
        for block in pairs:
            rows = cleaned.rows(block)
            cuts = np.flatnonzero(np.diff(rows[:, 1])) + 1
            counted = np.zeros((len(block), 3), dtype=np.int64)
            for start, stop in pairwise([0, *cuts.tolist(), len(block)]):
                if stop > start:
                    counted[start:stop] = _counted(sets, rows[start:stop, 0].tolist(), int(rows[start, 1]))
            yield Common(block, counted[:, 0], counted[:, 1:])


def _counted(sets: ShingleSets, rows: list[int], other: int) -> NDArray[np.int64]:
    """Returns common shingles, those of each of `rows`, and those of `other`: (rows, 3)."""
    counted = np.zeros((len(rows), 3), dtype=np.int64)
    slices = max(sets.slices(other), *map(sets.slices, rows))
    for place in range(slices):
        held = sets.part(other, place, slices)
        for number, row in enumerate(rows):
            # A set that fits is whole every time; what lies outside the slice is not in the other part.
            whole = sets.slices(row) == 1
            part = sets.of(row) if whole else sets.part(row, place, slices)
            counted[number, 0] += _common(part, held)
            counted[number, 1] += 0 if whole and place else len(part)
        counted[:, 2] += len(held)
    return counted


def _common(smaller: Hashes, larger: Hashes) -> int:
    if len(larger) > _MUCH_LARGER * len(smaller):
        if not len(smaller):
            return 0
        places = np.minimum(np.searchsorted(larger, smaller), len(larger) - 1)
        return int((larger[places] == smaller).sum())
    from corpus_assets.dedup.kernels.compare import common

    return common(smaller, larger)
