"""The documents of a shard that may hold a phrase, by the index of texts."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.text_index.assets import BLOCKS, NAME, TABLE
from corpus_assets.text_index.grams import may_hold
from corpus_assets.tracing.look import Look
from resources.formats.row_tables import TEXTS
from resources.stage.partition import Partition


def is_indexed(look: Look) -> bool:
    """Returns whether the corpus has an index of texts; some shards of it may not be built."""
    return look.has(NAME)


def likely_rows(look: Look, documents: Partition, phrase: bytes) -> NDArray[np.bool_] | None:
    """Returns which documents of a shard may hold a phrase (documents,); None if the index does not tell.

    It does not if it is not built, is of other texts, or if no run of the phrase is counted.
    """
    index = look.partition(NAME, documents.key) if look.has(NAME) else None
    if index is None or documents.record.segments.get(TEXTS) not in index.record.inputs.values():
        return None
    starts = index.array(BLOCKS)
    found = may_hold(index.array(TABLE), len(starts), phrase)
    if found is None:
        return None
    rows = documents.file(".texts.npy").rows or 0
    return np.repeat(found, np.diff(np.append(starts, rows)))
