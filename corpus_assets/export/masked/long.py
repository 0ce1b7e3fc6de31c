"""Documents that are longer than a row: in pieces, cut, or left out."""

from typing import Final

import numpy as np

from corpus_assets.config.datasets.masked import LongDocuments
from corpus_assets.export.documents import Documents

LONG_DOCUMENT: Final = "long_document"
"""Reason for ids and documents that are in no row."""


def fitted(documents: Documents, most: int, rule: LongDocuments) -> Documents:
    """Returns documents of at most `most` ids each, separators included.

    `fold`: longer ones become pieces of `most` ids, and a rest. `cut`: their first `most` ids stay. `drop`: none does.
    """
    sizes = documents.sizes
    if sizes.max(initial=0) <= most:
        return documents
    if rule == "drop":
        return documents.picked(np.flatnonzero(sizes <= most))
    counts = np.maximum(1, -(-sizes // most)) if rule == "fold" else np.ones(len(sizes), np.int64)
    of = np.repeat(np.arange(len(sizes)), counts)
    begins = (np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)) * most
    return documents.parts(of, begins, np.minimum(begins + most, sizes[of]))
