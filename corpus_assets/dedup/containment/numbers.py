"""Numbers of documents that went because another holds them, for people."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.shared import UNITS
from corpus_assets.dedup.documents.numbering import Documents, Numbering

_PER_CENT = UNITS // 100


def contained_numbers(
    numbering: Numbering, held: NDArray[np.void], copies: Documents, near: Mapping[str, int]
) -> dict[str, Any]:
    """Returns numbers of rows of `held_rows` by the names under which they are recorded.

    removed_contained: documents by source that went because the kept one holds them, without `copies`, whose text an
    earlier one has. contained_shares: all of these by the share of their shingles that it holds, in whole per cent,
    rounded down. removed_near: the others of `near`, in which all are counted.
    """
    held = held[~np.isin(held["document"], copies)]
    per_cent, counts = np.unique(held["share"] // _PER_CENT, return_counts=True)
    contained = numbering.by_source(held["document"])
    others = {source: count - contained.get(source, 0) for source, count in near.items()}
    return {
        "removed_contained": contained,
        "removed_near": {source: count for source, count in others.items() if count},
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
