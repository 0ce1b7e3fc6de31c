"""How similar kept documents are to the nearest other kept one, as far as they were compared."""

from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.audit.removed import Deduplicated
from corpus_assets.dedup.shared import blocks_of
from corpus_assets.dedup.signatures.sketches import estimate
from corpus_assets.dedup.similarity.jaccard import marked, wanted
from corpus_assets.dedup.similarity.sketch_join import compared, range_rows, row_type
from corpus_assets.report.audit.result import BARS

_CANDIDATES = "candidate_pairs"
_MEMORY = 1 << 28


def nearest(found: Deduplicated) -> dict[str, NDArray[np.int64]]:
    """Returns a histogram of each source: kept documents by the estimated similarity of the nearest other kept one.

    Candidates are looked through, which share a band of their signatures; most documents are in no such pair, and are
    not counted. Empty if candidates have no sketches, since nothing is checked. Memory: 2 1/8 bytes per document.
    """
    bits, total = found.sketched.bits, found.numbering.total
    gone = wanted((np.ascontiguousarray(block.documents) for block in found.removed()), total)
    row = row_type(total, bits // 64)
    agreed = np.zeros(total, dtype=np.uint16)
    parts = found.look.partitions(_CANDIDATES)
    if any(part.array(".npy").dtype != row for part in parts):
        return {}
    rows = (
        block[~marked(gone, block["pair"][:, 0]) & ~marked(gone, block["pair"][:, 1])]
        for part in parts
        for block in blocks_of(part.array(".npy"))
    )
    options: dict[str, Any] = {"row": row, "memory": _MEMORY, "spill": TemporaryFile}
    for pairs, agree in compared(rows, found.sketches.rows, (0, total), range_rows=range_rows(bits), **options):
        for side in (0, 1):
            np.maximum.at(agreed, pairs[:, side], agree)
    return _by_source(found, agreed)


def _by_source(found: Deduplicated, agreed: NDArray[np.uint16]) -> dict[str, NDArray[np.int64]]:
    counts = {name: np.zeros(BARS, dtype=np.int64) for name in found.numbering.sources}
    starts = found.numbering.starts
    for place, name in enumerate(found.numbering.sources):
        ours = agreed[starts[place] : starts[place + 1]]
        similarity = np.clip(estimate(ours[ours > 0].astype(np.int64), found.sketched.bits), 0.0, 1.0)
        counts[name] += np.bincount(np.minimum((similarity * BARS).astype(np.int64), BARS - 1), minlength=BARS)
    return counts
