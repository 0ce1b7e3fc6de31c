"""What a build leaves in Dagster: one run with a step per stage, and an event for every partition it computed."""

import fcntl
import sys
from pathlib import Path

import dagster as dg
import pytest

from corpus_assets.checking import asset_key
from corpus_assets.corpus.loop import Loop
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.home.faults import LOCK
from corpus_assets.orchestration.instance import instance
from corpus_assets.orchestration.shown.provenance import is_total
from resources.engine.local import LocalEngine
from tests.build.small import prose, write_raw
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent


def built(runs: Runs) -> Report:
    corpus = runs.corpus
    return build(corpus, list(corpus.graph), Silent(), instance=runs.instance)


def of_type(runs: Runs, run: dg.DagsterRun, kind: dg.DagsterEventType) -> list[dg.DagsterEvent]:
    records = runs.instance.get_records_for_run(run.run_id, of_type=kind).records
    return [event for record in records if (event := record.event_log_entry.dagster_event)]


def test_a_build_is_one_run_on_the_timeline_with_every_partition(runs: Runs) -> None:
    (runs.folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    assert [line.partition(": ")[0] for line in built(runs).failed] == ["normalized_documents/books--bad"]
    (run,) = runs.instance.get_runs()
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert run.remote_job_origin is not None
    assert run.tags["corpus/driver"] == "build"
    assert run.tags["corpus/why"] == "inventory: not built"
    corpus = runs.corpus
    events = of_type(runs, run, dg.DagsterEventType.ASSET_MATERIALIZATION)
    recorded = {(stage.name, key) for stage in corpus.graph for key in corpus.ledger.records(stage.name)}
    of_partitions = [one for one in events if not is_total(one.step_materialization_data.materialization)]
    assert sorted(str((event.asset_key, event.partition)) for event in of_partitions) == sorted(
        str((asset_key(asset), key)) for asset, key in recorded
    )
    (failed,) = of_type(runs, run, dg.DagsterEventType.STEP_FAILURE)
    assert failed.step_key == "normalized_documents"
    error = failed.step_failure_data.error
    assert error is not None
    assert "1 of 8 partitions failed" in error.message
    started = {str(event.step_key) for event in of_type(runs, run, dg.DagsterEventType.STEP_START)}
    done = {str(event.step_key) for event in of_type(runs, run, dg.DagsterEventType.STEP_SUCCESS)}
    assert started == done | {"normalized_documents"} == {asset for asset, _ in recorded}
    planned = of_type(runs, run, dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED)
    assert [(event.asset_key, event.partition) for event in planned] == [
        (asset_key("normalized_documents"), "books--bad")
    ]
    for asset in {asset for asset, _ in recorded}:
        assert runs.versions(asset) == runs.recorded(asset)
        keys = {key for name, key in recorded if name == asset and key is not None}
        assert runs.instance.get_materialized_partitions(asset_key(asset)) == keys


def test_checks_and_reasons_are_in_the_run(runs: Runs) -> None:
    assert built(runs).ok
    (run,) = runs.instance.get_runs()
    assert run.status is dg.DagsterRunStatus.SUCCESS
    checks = of_type(runs, run, dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    assert {event.asset_check_evaluation_data.check_name for event in checks} >= {
        "retention_of_sources",
        "conservation_of_rows",
    }
    assert {str(event.metadata["why"].value) for event in runs.latest("minhashes").values()} == {"new shard"}
    assert built(runs).recomputed == 0
    assert len(runs.instance.get_runs()) == 1
    rows = [{"id": f"new-{number}", "text": prose(f"new {number}")} for number in range(4)]
    write_raw(runs.folder, "books/three.jsonl", rows)
    assert built(runs).ok
    assert len(runs.instance.get_runs()) == 2
    event = runs.events("minhashes")[0]
    assert event.metadata["why"].value == "normalized_documents/books--three changed"
    assert runs.versions("minhashes") == runs.recorded("minhashes")


def test_a_stopped_process_keeps_nobody_from_a_dagster_home_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance, "_PATIENCE", 0.1)
    with (tmp_path / LOCK).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with instance._alone_in(tmp_path):
            pass
        with pytest.raises(BlockingIOError), (tmp_path / LOCK).open("a") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_workers_load_the_modules_of_stages_ahead(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(LocalEngine, "prepare", lambda _, modules: loaded.extend(modules))
    assert built(runs).ok
    assert {"corpus_assets.normalize.assets", "corpus_assets.dedup.by_range.merged"} <= set(loaded)
    assert all(name.startswith("corpus_assets.") and name in sys.modules for name in loaded)
    loaded.clear()
    assert built(runs).recomputed == 0
    assert not loaded


def test_a_raw_file_that_changes_before_its_digest_is_taken_is_named(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the build read of it is kept, and the next build goes on; nobody is left to guess what others wait for."""
    settle = Loop.settle

    def changes(loop: Loop) -> None:
        monkeypatch.undo()
        rows = [{"id": "late", "text": prose("late")}]
        write_raw(runs.folder, "books/three.jsonl", rows)
        settle(loop)

    monkeypatch.setattr(Loop, "settle", changes)
    report = built(runs)
    (said,) = report.failed
    assert said.startswith("raw_source/books--three: ") and "three.jsonl changed" in said and "build again" in said
    assert not report.ok and said in report.crashes
    assert any(line.startswith("normalized_documents/books--three: ") for line in report.waiting)
    assert built(runs).ok
