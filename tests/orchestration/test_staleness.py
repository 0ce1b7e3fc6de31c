"""Dagster's own stale marks agree with the plan wherever Dagster can tell (fewer than 100 upstream partitions)."""

from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from typing_extensions import override

from corpus_assets.checking import asset_key
from corpus_assets.definitions import definitions
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome
from tests.build.small import prose, write_raw
from tests.orchestration.runs import Runs


class Silent(Progress):
    """Ignores the progress of a build."""

    @override
    def stage(self, stage: Stage, due: int) -> None: ...

    @override
    def outcome(self, outcome: Outcome) -> None: ...


def build_all(runs: Runs) -> None:
    """`corpus build` on the instance of the test."""
    corpus = runs.corpus
    assert build(corpus, list(corpus.graph), Silent(), instance=runs.instance).ok


def statuses(runs: Runs) -> dict[tuple[str, str | None], StaleStatus]:
    """Dagster's own status of every partition."""
    corpus = runs.corpus
    graph = definitions(corpus).resolve_asset_graph()
    resolver = CachingStaleStatusResolver(runs.instance, graph, LoadingContextForTest(runs.instance))
    planner = corpus.planner()
    return {
        (stage.name, key): resolver.get_status(asset_key(stage.name), key)
        for stage in corpus.graph
        for key in planner.partitions(stage)
    }


def stale(runs: Runs) -> set[tuple[str, str | None]]:
    return {name for name, status in statuses(runs).items() if status is not StaleStatus.FRESH}


def test_everything_is_fresh_after_a_build(empty: Runs) -> None:
    build_all(empty)
    assert stale(empty) == set()
    for stage in empty.corpus.graph:
        assert empty.versions(stage.name) == empty.recorded(stage.name)
        assert len(empty.events(stage.name)) == len(empty.recorded(stage.name))


def test_everything_is_fresh_after_materializing_asset_by_asset(empty: Runs) -> None:
    empty.materialize("inventory")
    for stage in empty.corpus.graph:
        keys = [key for key in empty.corpus.planner().partitions(stage) if key is not None]
        order = empty.shards() if stage.partitioning.value == "shard" else keys
        assert empty.materialize(stage.name, between=(order[0], order[-1]) if keys else None).success
    assert stale(empty) == set()
    assert empty.not_fresh() == []


def test_a_changed_shard_is_stale_downstream_and_equal_content_is_not(empty: Runs) -> None:
    build_all(empty)
    rows = [{"id": f"new-{n}", "text": prose(f"new {n}")} for n in range(4)]
    write_raw(empty.folder, "books/three.jsonl", rows)
    assert empty.materialize("raw_source", partition="books--three").success
    assert ("normalized_documents", "books--three") in stale(empty)
    assert ("normalized_documents", "books--one") not in stale(empty)
    before = empty.versions("train")
    build_all(empty)
    assert empty.not_fresh() == []
    assert empty.versions("train") == empty.recorded("train")
    assert empty.versions("train") != before
    same = {stage: empty.versions(stage) for stage in ("short_documents", "minhashes")}
    assert all(versions == empty.recorded(stage) for stage, versions in same.items())
