"""An asset of the user's own that takes ours as arguments gets lazy handles: one partition, or many by key."""

from typing import Any

import dagster as dg
import numpy as np
import pytest

from corpus_assets.orchestration.assembly import assemble
from partitions.definitions import shards, static
from resources import Arrays, AttributeRow, Document, LazyRows, LedgerError, Partition, TokenRows
from resources.io_managers import DocumentsIOManager
from tests.orchestration.runs import Runs, failure_message

SHARD = "books--one"


def test_one_shard_of_documents_and_attributes(built: Runs) -> None:
    @dg.asset(partitions_def=shards())
    def lengths(
        normalized_documents: LazyRows[Document], short_documents: LazyRows[AttributeRow], minhashes: Arrays
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
    def totals(normalized_documents: dict[str, LazyRows[Document]], components: Arrays, inventory: LazyRows) -> None:
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
    def shapes(tokens: dict[str, TokenRows], train: dict[str, LazyRows[Document]]) -> None:
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
    def one(tokens: TokenRows, mixed_pass2: LazyRows[Document], tokenizer: Partition) -> None:
        with tokens.open() as file:
            stored = file["data"][:]
        assert stored.shape[1:] == (3, 64)
        assert len(tokens) == len(stored) > 2
        for most in (None, 2):
            blocks = list(tokens.rows(most))
            assert {block.dtype for block in blocks} == {np.dtype(np.int32)}
            assert np.array_equal(np.concatenate(blocks), stored)
        assert [len(block) for block in tokens.rows(2)][:1] == [2]
        assert all(isinstance(document, Document) for document in mixed_pass2)
        assert "model" in tokenizer.json("tokenizer.json")

    result = built.materialize(partition="chunk-0001", extra=[one])
    assert result.success, failure_message(result)


def test_a_scattered_shard_is_read_chunk_by_chunk(built: Runs) -> None:
    @dg.asset(partitions_def=shards())
    def scattered(mixed_pass1: LazyRows[Document]) -> None:
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
    manager = DocumentsIOManager(empty.corpus.storage, empty.corpus.ledger, empty.corpus.graph)
    context = dg.build_input_context(asset_key=dg.AssetKey("inventory"))
    with pytest.raises(LedgerError, match="inventory does not exist"):
        manager.load_input(context)


@pytest.mark.parametrize("key", ["documents", "arrays", "records", "hdf5"])
@pytest.mark.parametrize("made", [[{"id": "mine"}], {"books--one": 3}, 0, "", iter(())])
def test_rows_of_an_asset_that_is_none_of_ours_are_not_thrown_away(built: Runs, key: str, made: Any) -> None:
    @dg.asset(io_manager_key=f"{key}_io_manager")
    def mine() -> Any:
        return made

    result = built.materialize(extra=[mine])
    assert not result.success
    assert f"mine: received {type(made).__name__}, which " in _cause(result)
    assert "io_manager_key of your own" in _cause(result)
    assert not built.events("mine")


def test_an_asset_of_the_users_own_may_name_one_and_give_nothing(built: Runs) -> None:
    @dg.asset(io_manager_key="documents_io_manager")
    def looks(inventory: LazyRows) -> None:
        assert len(inventory) > 0

    assert built.materialize(extra=[looks]).success


def _cause(result: dg.ExecuteInProcessResult) -> str:
    (event,) = result.filter_events(lambda event: event.is_step_failure)
    assert event.step_failure_data.error is not None
    return event.step_failure_data.error.to_string()


def _read(runs: Runs, spec: dg.AssetSpec) -> dg.ExecuteInProcessResult:
    """Run an asset of another code location, where ours is known by its spec alone."""

    @dg.asset(ins={"rows": dg.AssetIn(key=spec.key, input_manager_key="documents_io_manager")})
    def reads(rows: Any) -> None:
        raise AssertionError("not reached")

    corpus = runs.corpus
    resources = assemble(corpus).resources
    return dg.materialize(
        [spec, reads], selection=[reads], instance=runs.instance, resources=resources, raise_on_error=False
    )


def test_a_spec_without_partitions_over_an_asset_that_has_some_is_told_so(built: Runs) -> None:
    cause = _cause(_read(built, dg.AssetSpec("normalized_documents")))
    assert "normalized_documents has a partition for each shard, and was asked for as one; declare it with" in cause
    assert "partitions_def=partitions.definitions.shards()" in cause


def test_a_spec_with_partitions_over_an_asset_that_has_none_is_told_so(built: Runs) -> None:
    cause = _cause(_read(built, dg.AssetSpec("components", partitions_def=static(["one"]))))
    assert "components has no partitions, and was asked for 'one'" in cause


def test_a_spec_of_no_asset_of_the_corpus_is_told_which_there_are(built: Runs) -> None:
    assert "documents is no asset of this corpus; these are: inventory, raw_source" in _cause(
        _read(built, dg.AssetSpec("documents"))
    )
