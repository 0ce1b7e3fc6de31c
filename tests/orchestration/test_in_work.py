"""Partitions in work are shown as being materialized while a build runs, and as what they are when it is over."""

import gzip
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.partition_status_cache import get_and_update_asset_status_cache_value

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.building import builder, in_work
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.jobs import build_job
from partitions.definitions import shards
from resources.engine.local import LocalEngine
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from tests.build.small import write_small
from tests.orchestration.runs import Runs
from tests.orchestration.silent import Silent

SLOW = ("normalized_documents", "books--two")
SECONDS = 60


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(in_work, "LONG_SECONDS", 0.0)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """One in files: that in memory has no states of partitions."""
    (tmp_path / "home").mkdir()
    with dg.DagsterInstance.local_temp(str(tmp_path / "home")) as made:
        yield made


def states(instance: dg.DagsterInstance, asset: str) -> tuple[set[str], set[str], set[str]]:
    """The shards of an asset that are materialized, failed, and being materialized, as the web UI counts them."""
    found = get_and_update_asset_status_cache_value(instance, asset_key(asset), shards(), instance)
    if found is None:  # It has no event yet.
        return set(), set(), set()
    definition = shards()
    subsets = (
        found.deserialize_materialized_partition_subsets(definition),
        found.deserialize_failed_partition_subsets(definition),
        found.deserialize_in_progress_partition_subsets(definition),
    )
    materialized, failed, working = (set(subset.get_partition_keys()) for subset in subsets)
    return materialized, failed, working


def slowly(monkeypatch: pytest.MonkeyPatch, until: Callable[[], bool], fails: bool = False) -> None:
    """Lets one partition take until something is so."""

    def work(job: Job) -> Outcome:
        if (job.stage.name, job.partition) == SLOW:
            end = time.monotonic() + SECONDS
            while not until():
                assert time.monotonic() < end, "it was never so"
            if fails:
                raise KeyboardInterrupt
        return run_job(job)

    monkeypatch.setattr("corpus_assets.corpus.corpus.open_engine", lambda *_: LocalEngine(0, work))


@pytest.mark.parametrize("way", ["build", "job"])
def test_a_partition_in_work_is_shown_as_being_materialized(
    way: str, instance: dg.DagsterInstance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs(write_small(tmp_path / "corpus"), instance)
    runs.register()
    slowly(monkeypatch, lambda: states(runs.instance, SLOW[0])[2] == {SLOW[1]})
    corpus = runs.corpus
    if way == "build":
        assert build(corpus, list(corpus.graph), Silent(), instance=runs.instance).ok
    else:
        assert build_job(corpus).execute_in_process(instance=runs.instance).success
    for asset in ("raw_source", "normalized_documents", "minhashes"):
        assert states(runs.instance, asset) == (set(runs.shards()), set(), set())


def test_what_a_killed_build_had_in_work_is_no_failure_once_its_change_is_taken_back(
    built: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = built.folder / "raw/books/two.jsonl.gz"
    before = file.read_bytes()
    corpus = built.corpus
    assert build(corpus, list(corpus.graph), Silent(), instance=built.instance).ok
    with monkeypatch.context() as patched:
        file.write_bytes(before + gzip.compress(b'{"id": "late", "text": "a text that came late"}\n', mtime=0))
        slowly(patched, lambda: SLOW[1] in states(built.instance, SLOW[0])[2], fails=True)
        corpus = built.corpus
        with pytest.raises(KeyboardInterrupt):
            build(corpus, list(corpus.graph), Silent(), instance=built.instance)
    assert states(built.instance, SLOW[0])[1] == {SLOW[1]}
    file.write_bytes(before)
    corpus = built.corpus
    assert build(corpus, list(corpus.graph), Silent(), instance=built.instance).ok
    assert states(built.instance, SLOW[0])[1:] == (set(), set())
