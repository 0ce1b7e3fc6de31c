"""Candidates of a band are looked for only if keys and document numbers are of the same shards and rows."""

from pathlib import Path

import numpy as np
import pytest

from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.duplicate_pairs import _keys_of_band
from corpus_assets.dedup.shared import stored_numbering
from resources.errors import LedgerError
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from tests.build.small import drive, opened, write_small

NONE = np.zeros(100, np.uint8)


def test_keys_of_other_shards_or_rows_are_refused(tmp_path: Path) -> None:
    write_small(tmp_path)
    corpus = opened(tmp_path)
    drive(corpus, corpus.graph.select(["+duplicate_pairs"]))
    exact = Partition(corpus.storage, corpus.ledger.records("exact_duplicates")["range-000"])
    numbering, records = stored_numbering(exact), corpus.ledger.records("band_keys")
    shards = Partitions(Partition(corpus.storage, records[name]) for name in numbering.shards)
    assert [len(keys) for keys in _keys_of_band(shards, "band-00", numbering, NONE)] == np.diff(
        numbering.starts
    ).tolist()
    for wrong in (Partitions(shards[:-1]), Partitions(shards[::-1])):
        with pytest.raises(LedgerError, match="other shards"):
            next(_keys_of_band(wrong, "band-00", numbering, NONE))
    table = [(row["shard"], row["rows"] + 1) for row in numbering.table()]
    with pytest.raises(LedgerError, match="has keys of"):
        next(_keys_of_band(shards, "band-00", Numbering.of(table), NONE))
