"""Any asset over any of its partitions, by itself: what is computed, what is reported, and what a failure says."""

import dagster as dg
import pytest

from resources.ledger.ledger import record_path
from tests.build.small import prose, write_raw
from tests.orchestration.runs import Runs, failure_message

SHARD = "books--one"


def test_one_partition_of_an_empty_store_builds_what_it_reads_of_the_raw_side(empty: Runs) -> None:
    assert empty.materialize("inventory").success
    assert SHARD in empty.shards()
    assert empty.materialize("normalized_documents", partition=SHARD).success
    assert empty.recorded("normalized_documents").keys() == {SHARD}
    assert empty.versions("normalized_documents") == empty.recorded("normalized_documents")
    assert empty.versions("raw_source") == empty.recorded("raw_source")


def test_a_chain_over_a_range_of_shards_equals_the_build(empty: Runs, built: Runs) -> None:
    empty.materialize("inventory")
    shards = empty.shards()
    chain = ["raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys"]
    assert empty.materialize(*chain, between=(shards[0], shards[-1])).success
    for asset in chain:
        assert empty.recorded(asset) == built.recorded(asset)
        assert empty.versions(asset) == empty.recorded(asset)


def test_a_missing_input_is_named_with_the_command_that_builds_it(empty: Runs) -> None:
    empty.materialize("inventory")
    result = empty.materialize("components")
    assert not result.success
    message = failure_message(result)
    assert "components: guarded_clusters/range-000 does not exist yet" in message
    assert "corpus build --select +components" in message
    assert empty.events("components") == []


def test_a_shard_that_an_input_of_the_whole_corpus_does_not_know_yet_is_said(built: Runs) -> None:
    write_raw(built.folder, "books/new.jsonl", [{"id": "new", "text": prose("new")}])
    built.materialize("inventory")
    assert built.materialize("raw_source", "normalized_documents", "short_documents", partition="books--new").success
    message = failure_message(built.materialize("duplicates", partition="books--new"))
    assert "components was made before books--new was there; build components first" in message


def test_a_failed_partition_is_not_marked_and_the_others_are(empty: Runs) -> None:
    (empty.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    empty.materialize("inventory")
    shards = empty.shards()
    result = empty.materialize("normalized_documents", "short_documents", between=(shards[0], shards[-1]))
    assert not result.success
    assert f"1 of {len(shards)} partitions failed" in failure_message(result)
    assert "bad.jsonl.gz" in failure_message(result)
    done = set(shards) - {"books--bad"}
    assert f"asked for {len(shards)}: computed {len(done)}, fresh 0, failed 1" in said(empty, result)
    (failure,) = (
        one.asset_observation
        for one in empty.instance.fetch_observations(dg.AssetKey("normalized_documents"), 9).records
    )
    assert failure is not None
    assert failure.partition == "books--bad"
    assert "bad.jsonl.gz" in str(failure.metadata["last failure"].value)
    key = dg.AssetKey("normalized_documents")
    assert empty.instance.get_materialized_partitions(key) == done
    assert empty.versions("normalized_documents").keys() == done


def test_fresh_partitions_keep_their_version_and_are_not_computed_again(built: Runs) -> None:
    before = built.corpus.ledger.records("train")
    assert built.materialize("train", between=("chunk-0000", "chunk-0002")).success
    assert built.corpus.ledger.records("train") == before
    assert built.versions("train") == built.recorded("train")
    assert {event.metadata["why"].value for event in built.latest("train").values()} == {"fresh, not computed again"}


def test_a_step_says_what_became_of_the_partitions_that_were_asked_for(built: Runs) -> None:
    built.corpus.ledger.forget("train", "chunk-0001")
    result = built.materialize("train", between=("chunk-0000", "chunk-0002"))
    assert "asked for 3: computed 1, fresh 2" in said(built, result)


def test_a_range_from_back_to_front_is_refused(built: Runs) -> None:
    first, *_, last = built.shards()
    for asset, keys in (("normalized_documents", (last, first)), ("train", ("chunk-0002", "chunk-0000"))):
        result = built.materialize(asset, between=keys)
        assert not result.success
        assert f"no partition lies between {keys[0]} and {keys[1]}" in failure_message(result)


def said(runs: Runs, result: dg.ExecuteInProcessResult) -> list[str]:
    return [entry.user_message for entry in runs.instance.all_logs(result.run_id)]


def test_force_computes_fresh_partitions_again(built: Runs) -> None:
    before = built.corpus.ledger.read("train", "chunk-0000")
    stamp = built.corpus.storage.stat(record_path("train", "chunk-0000"))
    config = {"train": {"config": {"force": True}}}
    assert built.materialize("train", partition="chunk-0000", config=config).success
    after = built.corpus.ledger.read("train", "chunk-0000")
    assert before and after
    assert before.digest == after.digest
    assert built.corpus.storage.stat(record_path("train", "chunk-0000")) != stamp
    assert built.latest("train")["chunk-0000"].metadata["why"].value == "asked for"


def test_a_shard_that_is_gone_fails_by_name(built: Runs) -> None:
    (built.folder / "raw/books/one.jsonl").unlink()
    result = built.materialize("normalized_documents", partition=SHARD)
    assert not result.success
    assert f"normalized_documents/{SHARD}: no such partition now" in failure_message(result)
    built.materialize("inventory")
    assert SHARD not in built.shards()


def test_an_asset_materialized_alone_sees_a_changed_raw_file(built: Runs) -> None:
    before = built.recorded("normalized_documents")
    (built.folder / "raw/books/one.jsonl").write_text('{"text": "' + prose("other") + '"}\n')
    assert built.materialize("normalized_documents", partition=SHARD).success
    after = built.recorded("normalized_documents")
    assert {key for key in after if after[key] != before[key]} == {SHARD}
    assert built.versions("raw_source") == {SHARD: built.recorded("raw_source")[SHARD]}


def test_every_partition_of_an_asset_has_the_same_numbers(built: Runs) -> None:
    shards = built.shards()
    assert built.materialize("normalized_documents", "mixed_pass1", between=(shards[0], shards[-1])).success
    assert built.materialize("train_tokens", between=("chunk-0000", "chunk-0002")).success
    for asset in ("normalized_documents", "mixed_pass1", "train_tokens"):
        numbers = [_numbers(event) for event in built.latest(asset).values()]
        assert [found.keys() ^ numbers[0].keys() for found in numbers] == [set()] * len(numbers)
        assert {"seconds", "CPU seconds", "text (MB/s)", "text (MB)", "stored (MB)"} <= numbers[0].keys()
    passed = [_numbers(event) for event in built.latest("mixed_pass1").values()]
    assert sum(found["dropped: short"] for found in passed) == 2
    assert sum(found["dropped: duplicate"] for found in passed) > 0
    assert all({"documents in", "documents out", "documents dropped"} <= found.keys() for found in passed)
    tokens = _numbers(built.latest("train_tokens")["chunk-0000"])
    assert tokens["tokens"] + tokens["padding (tokens)"] == tokens["token rows out"] * tokens["sequence length"]
    assert tokens["full (%)"] == pytest.approx(
        100 * tokens["tokens"] / (tokens["tokens"] + tokens["padding (tokens)"]), abs=1e-3
    )


def _numbers(event: dg.AssetMaterialization) -> dict[str, float]:
    kinds = dg.IntMetadataValue | dg.FloatMetadataValue
    return {name: float(value.value or 0) for name, value in event.metadata.items() if isinstance(value, kinds)}


def test_a_run_of_a_partition_may_have_assets_without_partitions(empty: Runs) -> None:
    empty.register()
    one, other = empty.shards()[:2]
    assert empty.materialize("inventory", "raw_source", partition=one).success
    assert empty.materialize("inventory", "raw_source", between=(other, other)).success
    assert empty.latest("inventory").keys() == {None}
    assert empty.latest("raw_source").keys() == {one, other}
