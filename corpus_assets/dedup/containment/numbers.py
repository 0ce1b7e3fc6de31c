"""Numbers of documents that went because another holds them, for people."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.shared import UNITS
from corpus_assets.dedup.documents.numbering import Documents, Numbering

_PER_CENT = UNITS // 100


def contained_numbers(numbering: Numbering, held: NDArray[np.void]) -> dict[str, Any]:
    """Returns numbers of rows of `held_rows` by the names under which they are recorded.

    removed_contained: documents by source that went because the kept one holds them. contained_shares: all of them by
    the share of their shingles that it holds, in whole per cent, rounded down.
    """
    per_cent, counts = np.unique(held["share"] // _PER_CENT, return_counts=True)
    return {
        "removed_contained": numbering.by_source(held["document"]),
        "contained_shares": dict(zip(map(str, per_cent.tolist()), counts.tolist(), strict=True)),
    }


def shares_of(documents: Documents, held: NDArray[np.void]) -> NDArray[np.uint32]:
    """Returns the share in millionths of each document (n,) that is in `held`; 0 of others."""
    shares = np.zeros(len(documents), dtype=np.uint32)
    if len(held):
        places = np.minimum(np.searchsorted(held["document"], documents), len(held) - 1)
        found = held["document"][places] == documents
        shares[found] = held["share"][places[found]]
    return shares
