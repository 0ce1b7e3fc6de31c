"""Failures that are kept, the wait for the store, and errors in words."""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from sqlite3 import OperationalError
from typing import Any, cast

import dagster as dg
import pytest
from dagster._core.storage.partition_status_cache import AssetPartitionStatus
from dagster_shared.error import SerializableErrorInfo
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Report
from corpus_assets.orchestration.events.run_events import in_words
from corpus_assets.orchestration.freshness.causes import causes
from corpus_assets.orchestration.freshness.failures import FAILURES, KeptFailures, ago, failures
from corpus_assets.orchestration.instance.instance import project_instance, usable
from corpus_assets.orchestration.instance.waiting import store_of_ones_own
from resources.errors import ConfigError, StorageError
from resources.stage.jobs.job import Outcome
from resources.stage.jobs.run_job import run_job
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent

ASSET, KEY = "short_documents", "books--one"


def outcome(error: str | None) -> Outcome:
    return Outcome(f"{ASSET}/{KEY}", ASSET, KEY, error=error)


def test_a_failure_is_kept_until_it_succeeds_or_its_parameters_change(built: Runs) -> None:
    corpus = built.corpus
    stage = corpus.graph[ASSET]
    KeptFailures(corpus.storage).note(corpus.planner(), outcome("the gzip stream is cut [/red]"))
    found = failures(built.corpus.planner(), stage)
    assert {key: failure.error for key, failure in found.items()} == {KEY: "the gzip stream is cut [/red]"}
    assert not [name for name in corpus.ledger.assets() if "failures" in name]
    assert corpus.planner().orphans() == []
    other = built.corpus
    other.settings.values["short_documents"]["threshold"] += 1
    assert failures(other.planner(), stage) == {}
    KeptFailures(corpus.storage).note(corpus.planner(), outcome(None))
    assert failures(built.corpus.planner(), stage) == {}


def test_a_kept_failure_that_cannot_be_read_is_forgiven(built: Runs) -> None:
    corpus = built.corpus
    stage = corpus.graph[ASSET]
    KeptFailures(corpus.storage).note(corpus.planner(), outcome("x"))
    (entry,) = corpus.storage.entries(FAILURES)
    corpus.storage.write(entry.path, b"\xff{")
    assert failures(corpus.planner(), stage) == {}


def test_a_failure_is_a_cause_of_the_plan(built: Runs) -> None:
    corpus = built.corpus
    corpus.ledger.forget(ASSET, KEY)
    KeptFailures(corpus.storage).note(corpus.planner(), outcome("the stream is cut"))
    now = datetime.now(UTC) + timedelta(hours=3, minutes=5)
    found = causes(built.corpus.planner(), built.corpus.graph, now)
    assert found.failed == {f"{ASSET}/{KEY}": "failed 3 hours ago: the stream is cut"}


def build_again(runs: Runs) -> Report:
    """What `corpus build` does."""
    corpus = runs.corpus
    return build(corpus, list(corpus.graph), Silent(), instance=runs.instance)


@pytest.mark.parametrize("with_work", [False, True])
def test_a_partition_whose_failure_was_taken_back_is_green_again(runs: Runs, with_work: bool) -> None:
    def status() -> AssetPartitionStatus | None:
        partitions = dg.DynamicPartitionsDefinition(name="shard")
        found = runs.instance.get_status_by_partition(asset_key("normalized_documents"), ["books--two"], partitions)
        return (found or {})["books--two"]

    assert build_again(runs).ok
    file = runs.folder / "raw/books/two.jsonl.gz"
    content = file.read_bytes()
    file.write_bytes(b"this is no gzip file")
    assert not build_again(runs).ok
    assert status() is AssetPartitionStatus.FAILED
    file.write_bytes(content)
    if not with_work:  # Only what lists the raw files is made again, by somebody who tells nobody.
        corpus = runs.corpus
        with corpus.building():
            for name in ("inventory", "raw_source"):
                Step(corpus, corpus.graph[name]).run()
    report = build_again(runs)
    assert report.ok
    assert bool(report.recomputed) is with_work
    assert runs.not_fresh() == []
    assert status() is AssetPartitionStatus.MATERIALIZED
    assert list(runs.corpus.storage.entries(FAILURES)) == []
    told = len(runs.events("normalized_documents"))
    assert build_again(runs).ok
    assert len(runs.events("normalized_documents")) == told, "said once"


@given(st.integers(0, 10**9))
def test_any_time_has_words(seconds: int) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    words = ago((now - timedelta(seconds=seconds)).isoformat(), now)
    assert words == "just now" or words.endswith(" ago")
    assert ago("no time", now) == "once"


class Busy:
    """A store that another process holds for some attempts."""

    def __init__(self, attempts: int, message: str = "/store: process 7 on host is building on this store") -> None:
        self.attempts, self.message = attempts, message

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        if self.attempts:
            self.attempts -= 1
            raise StorageError(self.message)
        yield


def test_a_step_waits_for_the_store_and_says_once_who_holds_it() -> None:
    said: list[str] = []
    pauses: list[float] = []
    with store_of_ones_own(cast(Corpus, Busy(3)), said.append, pause=pauses.append):
        pass
    assert len(set(pauses)) == 3
    assert all(1 <= pause <= 3 for pause in pauses)
    (line,) = said
    assert "process 7 on host" in line


def test_the_wait_has_a_limit_and_other_faults_are_not_waited_for() -> None:
    attempts = [0.0, 2.0, 4.0, 6.0]  # Seconds, those of slow attempts included.
    with (
        pytest.raises(StorageError, match=r"process 7 on host .* waited 6 s"),
        store_of_ones_own(
            cast(Corpus, Busy(99)), lambda _: None, limit=5, pause=lambda _: None, clock=iter(attempts).__next__
        ),
    ):
        pass
    with (
        pytest.raises(StorageError, match="read-only"),
        store_of_ones_own(cast(Corpus, Busy(1, "read-only")), lambda _: None, pause=lambda _: pytest.fail("waited")),
    ):
        pass


def test_the_cause_of_an_unforeseen_error_is_said() -> None:
    cause = SerializableErrorInfo("KeyError: 'shard'\n", [], "KeyError")
    outer = SerializableErrorInfo(
        "Error occurred while executing op:\n", [], "DagsterExecutionStepExecutionError", cause
    )
    assert in_words(outer) == "KeyError: 'shard'"


def leave(job: Any, *_: Any) -> None:
    sys.exit(f"gone from {type(job).__name__}")


def test_what_is_no_exception_fails_its_own_partition_by_name(built: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = built.corpus
    step = Step(corpus, corpus.graph[ASSET], [KEY], force=True)
    (decision,) = step.due
    job = corpus.jobs(step.planner).job(step.stage, decision.partition)
    monkeypatch.setattr("resources.stage.jobs.run_job._compute", leave)
    found = run_job(job)
    assert found.error is not None
    assert found.error.startswith("SystemExit: gone from Job")
    assert found.name == f"{ASSET}/{KEY}"


def test_a_home_that_cannot_be_used_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "file/home"))
    with pytest.raises(StorageError, match="Dagster cannot keep its runs there") as found:
        project_instance(tmp_path)
    assert len(str(found.value).splitlines()) == 1
    full = OperationalError("database or disk is full")
    with (
        pytest.raises(StorageError, match=r"keep its runs there .database or disk is full.; make room"),
        usable(tmp_path),
    ):
        raise RuntimeError("98 lines") from full
    with pytest.raises(KeyError), usable(tmp_path):
        raise KeyError("a fault of ours")
    with pytest.raises(ConfigError), usable(tmp_path):
        raise ConfigError("a fault of the user")


def test_a_database_of_events_that_was_cut_off_while_it_was_made_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    project_instance(tmp_path).dispose()
    (database,) = (tmp_path / "home").rglob("index.db")
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("DROP TABLE dynamic_partitions; DROP TABLE alembic_version; DROP TABLE asset_keys;")
    with project_instance(tmp_path) as instance:
        instance.add_dynamic_partitions("shards", ["one"])
        assert instance.get_dynamic_partitions("shards") == ["one"]
