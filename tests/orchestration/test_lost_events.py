"""What builds committed without telling Dagster: the next build tells it, whatever stages that one is over."""

from datetime import datetime, timedelta

import dagster as dg
import msgspec
import pytest
from typing_extensions import override

from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from resources.stage.jobs.job import Outcome
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent


class Interrupted(Silent):
    """Interrupts the build when it takes the first outcome of an asset, before Dagster is told of it."""

    def __init__(self, asset: str) -> None:
        self.asset = asset
        self.key: str | None = None

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.asset == self.asset:
            self.key = outcome.partition
            raise KeyboardInterrupt


def build_again(runs: Runs, *select: str) -> Report:
    """What `corpus build` does, of all stages or of some."""
    corpus = runs.corpus
    stages = corpus.graph.select(select) if select else list(corpus.graph)
    return build(corpus, stages, Silent(), instance=runs.instance)


def interrupted(runs: Runs, asset: str) -> str | None:
    """Interrupt a build; the key of the partition that it committed and did not tell Dagster of.

    Workers go on while the end of a build is told, so the partition may be older than that end: here by five seconds.
    """
    corpus, stop = runs.corpus, Interrupted(asset)
    with pytest.raises(KeyboardInterrupt):
        build(corpus, list(corpus.graph), stop, instance=runs.instance)
    record = runs.corpus.ledger.read(asset, stop.key)
    assert record is not None
    created = datetime.fromisoformat(record.created) - timedelta(seconds=5)
    runs.corpus.ledger.write(msgspec.structs.replace(record, created=created.isoformat()))
    assert stop.key not in runs.versions(asset)
    return stop.key


def test_what_an_interrupted_build_committed_is_told_by_the_next(runs: Runs) -> None:
    interrupted(runs, "minhashes")
    assert build_again(runs).ok
    assert runs.versions("minhashes") == runs.recorded("minhashes")
    assert {run.status for run in runs.instance.get_runs()} == {
        dg.DagsterRunStatus.FAILURE,
        dg.DagsterRunStatus.SUCCESS,
    }


def test_a_build_of_a_few_stages_tells_what_an_interrupted_one_left_of_others(runs: Runs) -> None:
    key = interrupted(runs, "minhashes")
    assert build_again(runs, "+short_documents").recomputed
    assert key in runs.versions("minhashes")


def test_another_dagster_is_told_of_all_assets_by_a_build_of_a_few_stages(built: Runs) -> None:
    built.corpus.ledger.forget("inventory", None)
    assert build_again(built, "inventory").recomputed == 1
    assert built.recorded("minhashes")
    assert built.versions("minhashes") == built.recorded("minhashes")
