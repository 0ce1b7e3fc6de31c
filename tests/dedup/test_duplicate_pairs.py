"""Candidates of a band are looked for only if keys and document numbers are of the same shards and rows."""

from pathlib import Path

import numpy as np
import pytest

from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.duplicate_pairs import _keys_of_band
from corpus_assets.dedup.shared import stored_numbering
from corpus_assets.dedup.signatures.bands import NO_KEY
from resources.errors import LedgerError
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from tests.build.small import drive, opened, write_small

NONE = np.zeros(100, np.uint8)
MEMORY = 1 << 30


def test_keys_of_other_shards_or_rows_are_refused(tmp_path: Path) -> None:
    write_small(tmp_path)
    corpus = opened(tmp_path)
    drive(corpus, corpus.graph.select(["+duplicate_pairs"]))
    exact = Partition(corpus.storage, corpus.ledger.records("exact_duplicates")["range-000"])
    numbering, records = stored_numbering(exact), corpus.ledger.records("band_keys")
    shards = Partitions(Partition(corpus.storage, records[name]) for name in numbering.shards)
    assert sum(len(keys) for keys in _keys_of_band(shards, "band-00", numbering, NONE, MEMORY)) == numbering.total
    for wrong in (Partitions(shards[:-1]), Partitions(shards[::-1])):
        with pytest.raises(LedgerError, match="other shards"):
            next(_keys_of_band(wrong, "band-00", numbering, NONE, MEMORY))
    table = [(row["shard"], row["rows"] + 1) for row in numbering.table()]
    with pytest.raises(LedgerError, match="has keys of"):
        next(_keys_of_band(shards, "band-00", Numbering.of(table), NONE, MEMORY))


def test_keys_are_the_same_whether_files_are_kept_or_not(tmp_path: Path) -> None:
    write_small(tmp_path)
    corpus = opened(tmp_path)
    drive(corpus, corpus.graph.select(["+duplicate_pairs"]))
    records = corpus.ledger.records("band_keys")
    numbering = stored_numbering(Partition(corpus.storage, corpus.ledger.records("exact_duplicates")["range-000"]))
    shards = Partitions(Partition(corpus.storage, records[name]) for name in numbering.shards)
    assert len(shards) > 1
    some = np.random.default_rng(1).integers(0, 256, 1 + numbering.total // 8, dtype=np.uint8)
    for band in range(len(shards[0].array(".bands.npy"))):
        kept, alone = (
            list(_keys_of_band(shards, f"band-{band:02}", numbering, some, memory)) for memory in (MEMORY, 0)
        )
        assert len(kept) < len(alone) == len(shards)
        assert np.concatenate(kept).tolist() == np.concatenate(alone).tolist()
        whole = np.concatenate([shard.array(".bands.npy")[band] for shard in shards])
        taken = np.concatenate(kept) != NO_KEY
        assert (np.concatenate(kept) == whole)[taken].all()
        assert not taken[np.unpackbits(some, bitorder="little")[: numbering.total] > 0].any()
