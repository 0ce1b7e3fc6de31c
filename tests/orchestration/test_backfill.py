"""A backfill over whole assets is one build, whichever of its runs comes first."""

import time
from collections.abc import Iterable
from typing import Any

import dagster as dg
from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset
from dagster._core.definitions.events import AssetKeyPartitionKey
from dagster._core.execution.backfill import PartitionBackfill

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.backfill import BUILT_TAG, build_backfill
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.runner import LOST_WHY
from corpus_assets.orchestration.events.run_events import ERROR
from corpus_assets.orchestration.shown.totals import BACKFILL_TAG
from resources.stage.declaration import Partitioning
from tests.orchestration.runs import Runs, failure_message
from tests.orchestration.silent import Silent

BACKFILL = "backfill"
SHARD_CHAIN = ["raw_source", "normalized_documents", "short_documents", "minhashes", "band_keys"]


def everything(runs: Runs) -> list[str]:
    return [stage.name for stage in runs.corpus.graph]


def launch(runs: Runs, assets: Iterable[str], without: str = "") -> None:
    """Adds a backfill over all partitions of some assets, as the web UI does, but for the partition `without`."""
    assembly = assemble(runs.corpus)
    graph = dg.Definitions(assets=assembly.assets, resources=assembly.resources).resolve_asset_graph()
    chosen = {AssetKeyPartitionKey(asset_key(asset), key) for asset, key in partitions(runs, assets) if key != without}
    subset = AssetGraphSubset.from_asset_partition_set(chosen, graph)
    runs.instance.add_backfill(
        PartitionBackfill.from_asset_graph_subset(BACKFILL, time.time(), {}, runs.instance, subset, None, None, None)
    )


def run(runs: Runs, asset: str, partition: str | None = None) -> dg.ExecuteInProcessResult:
    """One run of the backfill, as Dagster's daemon starts it."""
    assembly = assemble(runs.corpus, build_backfill)
    return dg.materialize(
        assembly.assets,
        selection=dg.AssetSelection.assets(asset_key(asset)),
        partition_key=partition,
        tags={BACKFILL_TAG: BACKFILL},
        instance=runs.instance,
        resources=assembly.resources,
        raise_on_error=False,
    )


def told(runs: Runs, result: dg.ExecuteInProcessResult) -> set[tuple[str, str | None]]:
    """Partitions that a run reported; AssertionError if it reported one twice, or sums, which end a backfill."""
    found = [
        (asset, record.partition_key)
        for asset in everything(runs)
        for record in runs.instance.fetch_materializations(asset_key(asset), limit=1000).records
        if record.run_id == result.run_id
    ]
    assert len(found) == len(set(found))
    assert [asset for asset, key in found if key is None and not _is_whole(runs, asset)] == []
    return set(found)


def _is_whole(runs: Runs, asset: str) -> bool:
    return runs.corpus.graph[asset].partitioning is Partitioning.NONE


def partitions(runs: Runs, assets: Iterable[str]) -> set[tuple[str, str | None]]:
    corpus = runs.corpus
    planner = corpus.planner()
    return {(name, key) for name in assets for key in planner.partitions(corpus.graph[name])}


def test_the_first_run_builds_and_reports_everything(empty: Runs, built: Runs) -> None:
    empty.register()
    launch(empty, everything(empty))
    first = run(empty, "inventory")
    assert first.success
    assert empty.not_fresh() == []
    assert told(empty, first) == partitions(empty, everything(empty))
    for asset in everything(empty):
        assert empty.versions(asset) == empty.recorded(asset) == built.recorded(asset)
    found = empty.instance.get_run_by_id(first.run_id)
    assert found is not None
    assert found.tags[BUILT_TAG] == "yes"
    assert found.tags["corpus/why"] == "inventory: not built"


def test_of_a_corpus_whose_shards_dagster_never_saw_all_is_built_too(empty: Runs) -> None:
    assembly = assemble(empty.corpus)
    graph = dg.Definitions(assets=assembly.assets, resources=assembly.resources).resolve_asset_graph()
    chosen = [asset_key(asset) for asset in everything(empty)]
    arguments: dict[str, Any] = dict.fromkeys(("partition_names", "title", "description", "run_config"))
    empty.instance.add_backfill(
        PartitionBackfill.from_asset_partitions(
            backfill_id=BACKFILL,
            asset_graph=graph,
            asset_selection=chosen,
            backfill_timestamp=time.time(),
            tags={},
            dynamic_partitions_store=empty.instance,
            all_partitions=True,
            **arguments,
        )
    )
    first = run(empty, "inventory")
    assert first.success
    assert empty.not_fresh() == []
    assert told(empty, first) == partitions(empty, everything(empty))


def test_a_fresh_corpus_is_only_reported(built: Runs) -> None:
    launch(built, everything(built))
    before = {asset: built.recorded(asset) for asset in everything(built)}
    first = run(built, "inventory")
    assert first.success
    assert told(built, first) == partitions(built, everything(built))
    assert {asset: built.versions(asset) for asset in before} == before
    whys = {str(event.metadata["why"].value) for event in built.latest("minhashes").values()}
    assert whys == {LOST_WHY}  # It was built without Dagster.


def test_what_turns_out_fresh_since_its_input_came_out_equal_is_reported_too(built: Runs) -> None:
    built.corpus.ledger.forget("inventory", None)
    build(built.corpus, list(built.corpus.graph), Silent(), instance=built.instance)
    file = built.folder / "raw/books/three.jsonl"
    file.write_bytes(file.read_bytes().replace(b'": "', b'":  "'))
    launch(built, everything(built))
    before = built.recorded("normalized_documents")
    first = run(built, "inventory")
    assert first.success
    assert built.recorded("normalized_documents") == before
    assert told(built, first) == partitions(built, everything(built))


def test_a_later_run_of_the_backfill_repeats_nothing(built: Runs) -> None:
    launch(built, everything(built))
    assert run(built, "inventory").success
    later = run(built, "normalized_documents", built.shards()[0])
    assert later.success
    assert told(built, later) == set()


def test_a_backfill_over_some_partitions_stays_with_them(empty: Runs) -> None:
    empty.register()
    shard, other = empty.shards()[:2]
    launch(empty, ["inventory", *SHARD_CHAIN], without=other)
    assert run(empty, "raw_source", shard).success
    assert empty.recorded("raw_source").keys() == {shard}
    assert empty.recorded("normalized_documents") == {}


def test_a_backfill_that_reads_what_is_not_fresh_goes_step_by_step(empty: Runs) -> None:
    empty.register()
    launch(empty, ["minhashes", "band_keys"])
    result = run(empty, "minhashes", empty.shards()[0])
    assert "does not exist yet" in failure_message(result)


def test_a_failed_partition_that_the_backfill_knows_nothing_of_fails_its_first_run(empty: Runs) -> None:
    empty.register()
    launch(empty, ["inventory", *SHARD_CHAIN])
    (empty.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    first = run(empty, "inventory")
    assert not first.success
    assert "normalized_documents/books--bad: books/bad.jsonl.gz" in failure_message(first)


def test_a_failed_partition_fails_the_run_of_its_own_asset_and_the_others_are_built(empty: Runs) -> None:
    (empty.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    empty.register()
    launch(empty, ["inventory", *SHARD_CHAIN])
    first = run(empty, "inventory")
    assert first.success
    logged = [entry.user_message for entry in empty.instance.all_logs(first.run_id) if entry.level == ERROR]
    assert any("normalized_documents/books--bad: books/bad.jsonl.gz" in words for words in logged)
    good = {(asset, key) for asset, key in partitions(empty, SHARD_CHAIN) if key != "books--bad"}
    assert good <= told(empty, first)
    again = run(empty, "normalized_documents", "books--bad")
    assert not again.success
    assert "bad.jsonl.gz" in failure_message(again)
    assert told(empty, again) == set()
    both = [empty.instance.get_run_by_id(one.run_id) for one in (first, again)]
    assert [found and found.tags.get("corpus/build") for found in both] == [first.run_id, first.run_id]
    assert [found and found.tags.get("corpus/why") for found in both] == ["inventory: not built"] * 2
