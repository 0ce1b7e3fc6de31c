"""The shares of benchmark items in documents of train. Workers compute them, so Dagster is not loaded here."""

from collections.abc import Mapping

import numpy as np

from corpus_assets.contamination.benchmark_ngrams import stored_index
from corpus_assets.contamination.evidence import Evidence
from corpus_assets.contamination.search import Searcher
from corpus_assets.faults import UNREADABLE, unread
from resources.ledger.ledger import Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage

Shares = Mapping[int, float]
"""The largest share of each item that any document holds, by the number of the item in the index."""


def shares_in(chunk: Record, storage: Storage, ngrams: Record, boilerplate: Record) -> Shares | str:
    """Returns the shares of items in the documents of a chunk, or why the chunk cannot be read."""
    index, rules = stored_index(Partition(storage, ngrams))
    searcher = Searcher(index, rules)
    evidence = Evidence(index, np.asarray(Partition(storage, boilerplate).array(".npy")))
    found: dict[int, float] = {}
    try:
        for document in Partition(storage, chunk, compared=False).documents():
            for held in evidence.of(searcher.find(document.text)):
                found[held.item] = max(found.get(held.item, 0.0), held.share)
    except UNREADABLE as error:
        return f"{chunk.partition}: {unread(error)}"
    return found
