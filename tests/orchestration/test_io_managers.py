"""An asset of the user's own that takes ours as arguments gets lazy handles: one partition, or many by key."""

import dagster as dg
import numpy as np
import pytest

from partitions.definitions import shards, static
from resources.errors import LedgerError
from resources.formats.attributes import AttributeRow
from resources.formats.documents import Document
from resources.io_managers import Arrays, DocumentsIOManager, LazyRows, TokenRows
from resources.stage.partition import Partition
from tests.orchestration.runs import Runs, failure_message

SHARD = "books--one"


def test_one_shard_of_documents_and_attributes(built: Runs) -> None:
    @dg.asset(partitions_def=shards())
    def lengths(
        normalized_documents: LazyRows, short_documents: LazyRows, minhashes: Arrays
    ) -> dg.MaterializeResult[None]:
        documents, attributes = list(normalized_documents), list(short_documents)
        assert all(isinstance(document, Document) for document in documents)
        assert all(isinstance(row, AttributeRow) for row in attributes)
        assert [row.id for row in attributes] == [document.id for document in documents]
        assert len(normalized_documents) == len(documents) == len(list(normalized_documents)) == 9
        assert minhashes().shape == (9, 64)
        assert minhashes(".sketch.npy").shape == (9, 128)
        return dg.MaterializeResult(metadata={"characters": sum(len(document.text) for document in documents)})

    result = built.materialize(partition=SHARD, extra=[lengths])
    assert result.success, failure_message(result)
    (event,) = built.events("lengths")
    assert int(str(event.metadata["characters"].value)) > 1000


def test_all_shards_by_key_for_an_asset_without_partitions(built: Runs) -> None:
    seen: dict[str, int] = {}

    @dg.asset
    def totals(normalized_documents: dict[str, LazyRows], components: Arrays, inventory: LazyRows) -> None:
        seen.update({key: len(rows) for key, rows in normalized_documents.items()})
        assert components("clusters.npy").shape[1] == 3
        assert {row["shard"] for row in inventory} == seen.keys()

    result = built.materialize(extra=[totals])
    assert result.success, failure_message(result)
    assert sorted(seen) == sorted(built.shards())
    assert sum(seen.values()) == 44


def test_a_range_of_chunks_by_key(built: Runs) -> None:
    seen: dict[str, tuple[int, ...]] = {}
    chunks = static(built.corpus.settings.chunks())

    @dg.asset(
        ins={"tokens": dg.AssetIn(key=dg.AssetKey(["train_tokens"]))},
        partitions_def=chunks,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def shapes(tokens: dict[str, TokenRows], train: dict[str, LazyRows]) -> None:
        assert train.keys() == tokens.keys()
        for key, rows in tokens.items():
            with rows.open() as file:
                seen[key] = file["data"].shape

    result = built.materialize(between=("chunk-0000", "chunk-0001"), extra=[shapes])
    assert result.success, failure_message(result)
    assert sorted(seen) == ["chunk-0000", "chunk-0001"]
    assert all(shape[1:] == (3, 64) for shape in seen.values())


def test_one_chunk_of_tokens_and_documents(built: Runs) -> None:
    @dg.asset(
        ins={"tokens": dg.AssetIn(key=dg.AssetKey(["train_tokens"]))},
        partitions_def=static(built.corpus.settings.chunks()),
    )
    def one(tokens: TokenRows, mixed_pass2: LazyRows, tokenizer: Partition) -> None:
        with tokens.open() as file:
            assert file["data"].dtype == np.int32
        assert all(isinstance(document, Document) for document in mixed_pass2)
        assert "model" in tokenizer.json("tokenizer.json")

    result = built.materialize(partition="chunk-0001", extra=[one])
    assert result.success, failure_message(result)


def test_a_scattered_shard_is_read_chunk_by_chunk(built: Runs) -> None:
    @dg.asset(partitions_def=shards())
    def scattered(mixed_pass1: LazyRows) -> None:
        documents = list(mixed_pass1)
        assert len(documents) == len(mixed_pass1) > 0
        assert all(isinstance(document, Document) for document in documents)

    result = built.materialize(partition=SHARD, extra=[scattered])
    assert result.success, failure_message(result)


def test_what_was_not_built_is_named_with_the_command_that_builds_it(empty: Runs) -> None:
    @dg.asset(partitions_def=shards())
    def lengths(normalized_documents: LazyRows) -> None:
        raise AssertionError("not reached")

    empty.materialize("inventory")
    result = empty.materialize(partition=SHARD, extra=[lengths])
    assert not result.success
    events = result.filter_events(lambda event: event.is_step_failure)
    cause = events[0].step_failure_data.error
    assert cause is not None
    text = cause.to_string()
    assert f"normalized_documents/{SHARD} does not exist; build it first: corpus build --select" in text


def test_the_ledger_error_needs_no_dagster_run(empty: Runs) -> None:
    manager = DocumentsIOManager(empty.corpus.storage, empty.corpus.ledger)
    context = dg.build_input_context(asset_key=dg.AssetKey("inventory"))
    with pytest.raises(LedgerError, match="inventory does not exist"):
        manager.load_input(context)
