"""Documents whose ids are known, of a token stream, as modes take them."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.tokenize.counts.statistics import Statistics
from corpus_assets.tokenize.ragged import BLOCK_TOKENS, Ragged
from resources.formats.token_streams import DATA, LENGTHS, NAMES
from resources.stage.partition import Partition

NO_IDS = "no_ids"
_MOST_DOCUMENTS = 1 << 16


def holds_ids(given: Partition) -> bool:
    """Returns whether a partition is of a token stream."""
    return given.has(LENGTHS)


def ids_of(given: Partition, statistics: Statistics) -> Iterator[Ragged]:
    """Yields the documents of a partition of a token stream of one source, in batches; memory is that of one.

    Documents without ids are counted as discarded (`no_ids`).
    """
    lengths, data = given.array(LENGTHS), given.array(DATA)
    (source,) = given.json(NAMES)["sources"]
    statistics.processed_files += len(lengths)
    if empty := int(np.count_nonzero(lengths == 0)):
        statistics.discard_document(NO_IDS, empty)
    for _ in range(empty):
        statistics.sources.read(source)
        statistics.sources.skip()
    first = start = 0
    while first < len(lengths):
        sums = np.cumsum(lengths[first : first + _MOST_DOCUMENTS], dtype=np.int64)
        count = max(1, int(np.searchsorted(sums, BLOCK_TOKENS, side="right")))
        chosen = lengths[first : first + count].astype(np.int64)
        end = start + int(sums[count - 1])
        held = chosen[chosen > 0]
        for _ in range(len(held)):
            statistics.sources.read(source)
        if len(held):
            yield Ragged(data[start:end].astype(np.int32), np.concatenate([[0], np.cumsum(held)]))
        first, start = first + count, end
