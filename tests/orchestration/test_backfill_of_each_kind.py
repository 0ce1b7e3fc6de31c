"""Backfills over each kind of partition that fail in part, and are re-executed from failure, as in the web UI.

The questions are those of the web UI, and Dagster's own daemon does the work; only its pauses are left out.
"""

import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.instance.ref import InstanceRef
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import PythonFileTarget
from dagster._daemon.backfill import execute_backfill_iteration
from dagster_graphql.test.utils import execute_dagster_graphql

from corpus_assets.checking import asset_key
from partitions.definitions import partitions_def
from resources.stage.declaration import Partitioning
from tests.build.small import digests, drive, live_records, opened, prose, save_tokenizer, write_raw, write_small
from tests.orchestration.runs import Runs

LOAD = """
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.definitions import definitions
defs = definitions(Corpus.open("{}"))
"""
OWN = {"name": "own", "sequence_length": 64, "input": {"location": "own"}}
TOKENIZER = {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"}
KINDS = {
    "minhashes": Partitioning.SHARD,
    "own_examples": Partitioning.SHARD,
    "exact_duplicates": Partitioning.RANGE,
    "duplicate_pairs": Partitioning.BAND,
    "mixed_pass2": Partitioning.CHUNK,
    "holdout_selection": Partitioning.NONE,
}
"""An asset of each kind; the second one has the shards of a dataset's own files."""
ITERATIONS = 20


class Site:
    """A corpus that is built, an instance of Dagster in files, and the code location as the daemon sees it."""

    def __init__(self, runs: Runs, context: WorkspaceProcessContext) -> None:
        self.runs = runs
        self.context = context

    def ask(self, query: str, **variables: Any) -> Any:
        """The answer to a question of the web UI."""
        found = execute_dagster_graphql(self.context.create_request_context(), query, variables)
        assert not found.errors, found.errors
        (answer,) = found.data.values()
        assert answer["__typename"] == "LaunchBackfillSuccess", answer
        return answer["backfillId"]

    def done(self, backfill: str) -> str:
        """The status of a backfill when the daemon has done it."""
        for _ in range(ITERATIONS):
            for error in execute_backfill_iteration(self.context, logging.getLogger("daemon")):
                assert error is None, error
            found = self.runs.instance.get_backfill(backfill)
            assert found is not None
            if found.status.value not in ("REQUESTED", "FAILING"):
                return found.status.value
        return "not done"

    def errors(self, backfill: str) -> list[str]:
        """Why steps of the runs of a backfill failed."""
        failures = [event.step_failure_data.error for event in self._events(backfill) if event.is_step_failure]
        return [error.message for error in failures if error is not None]

    def made(self) -> dict[tuple[str, str | None], str]:
        """When each partition was computed."""
        return {key: record.created for key, record in live_records(self.runs.corpus).items()}

    def statuses(self, asset: str) -> dict[str, str]:
        """What the page of an asset shows of its partitions."""
        corpus, instance = self.runs.corpus, self.runs.instance
        stage = corpus.graph[asset]
        kind = partitions_def(corpus.settings, stage)
        if kind is None:
            return {}
        keys = kind.get_partition_keys(dynamic_partitions_store=instance)
        found = instance.get_status_by_partition(asset_key(asset), keys, kind) or {}
        return {key: status.value for key, status in found.items() if status is not None}

    def _events(self, backfill: str) -> Iterator[dg.DagsterEvent]:
        for run in self.runs.instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill})):
            logs = self.runs.instance.all_logs(run.run_id)
            yield from (entry.dagster_event for entry in logs if entry.dagster_event is not None)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, home = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("home")
    save_tokenizer(folder / "tokenizer.json")
    write_small(folder, {"datasets": [OWN], "tokenizer": TOKENIZER})
    for name in ("a", "b", "c"):
        rows = [{"id": f"{name}-{n}", "text": prose(f"{name} {n}")} for n in range(3)]
        write_raw(folder, f"../own/{name}.jsonl", rows)
    corpus = opened(folder)
    assert not drive(corpus, list(corpus.graph)).failed
    (folder / "location.py").write_text(LOAD.format(folder / "corpus.yaml"))
    launcher = {"module": "dagster._core.launcher.sync_in_memory_run_launcher", "class": "SyncInMemoryRunLauncher"}
    at_once = {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"}
    overrides = {"run_launcher": launcher, "run_coordinator": at_once, "telemetry": {"enabled": False}}
    with dg.DagsterInstance.from_ref(InstanceRef.from_dir(str(home), overrides=overrides)) as instance:
        runs = Runs(folder, instance)
        runs.register()
        target = PythonFileTarget(str(folder / "location.py"), None, str(folder), None)
        with create_test_daemon_workspace_context(target, instance) as context:
            yield Site(runs, context)


LAUNCH = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message stack } } }"""
AGAIN = """mutation($p: ReexecutionParams!) { reexecutePartitionBackfill(reexecutionParams: $p) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message stack } } }"""


@pytest.mark.parametrize("asset", KINDS)
def test_what_fails_is_shown_with_its_reason_and_is_all_that_a_re_execution_computes(site: Site, asset: str) -> None:
    runs = site.runs
    corpus = runs.corpus
    assert corpus.graph[asset].partitioning is KINDS[asset]
    before, records = digests(corpus), corpus.ledger.records(asset)
    bad = sorted(records, key=str)[-1]
    file = runs.folder / "corpus" / records[bad].files[0].path
    for key in records:
        corpus.ledger.forget(asset, key)
    file.unlink()
    file.joinpath("in the way").mkdir(parents=True)
    first = site.ask(LAUNCH, p={"assetSelection": [{"path": [asset]}], "allPartitions": True})
    assert site.done(first) == "COMPLETED_FAILED"
    (error,) = site.errors(first)
    assert f"{asset}/{bad}: " in error if bad else f"{asset}: " in error
    assert file.name in error and "Is a directory" in error
    assert runs.not_fresh() >= [(asset, bad)]
    assert corpus.ledger.records(asset).keys() == records.keys() - {bad}
    assert site.statuses(asset) == {key: "FAILED" if key == bad else "MATERIALIZED" for key in records if key}
    shutil.rmtree(file)
    left = site.made()
    again = site.ask(AGAIN, p={"parentRunId": first, "strategy": "FROM_FAILURE"})
    assert site.done(again) == "COMPLETED_SUCCESS"
    assert site.made().items() - left.items() == {((asset, bad), corpus.ledger.records(asset)[bad].created)}
    assert runs.not_fresh() == []
    assert digests(runs.corpus) == before
    assert site.statuses(asset) == {key: "MATERIALIZED" for key in records if key}


def test_a_backfill_of_everything_goes_on_from_a_bad_file_once_it_is_mended(site: Site, tmp_path: Path) -> None:
    runs = site.runs
    folder, bad = runs.folder, "books--bad"
    (folder / "raw/books/bad.jsonl.gz").write_bytes(b"this is no gzip file")
    runs.register()
    before = site.made()
    everything = [{"path": stage.name.split("/")} for stage in runs.corpus.graph]
    first = site.ask(LAUNCH, p={"assetSelection": everything, "allPartitions": True})
    assert site.done(first) == "COMPLETED_FAILED"
    assert any(f"normalized_documents/{bad}: books/bad.jsonl.gz" in error for error in site.errors(first))
    assert site.statuses("normalized_documents")[bad] == "FAILED"
    assert {asset for (asset, _), _ in site.made().items() - before.items()} == {"inventory", "raw_source"}
    write_raw(folder, "books/bad.jsonl.gz", [{"id": f"bad-{n}", "text": prose(f"bad {n}")} for n in range(4)])
    again = site.ask(AGAIN, p={"parentRunId": first, "strategy": "FROM_FAILURE"})
    assert site.done(again) == "COMPLETED_SUCCESS", site.errors(again)
    assert runs.not_fresh() == []
    for name in ("raw", "own", "corpus.yaml", "tokenizer.json"):
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copyfile
        copy(folder / name, tmp_path / name)
    other = opened(tmp_path)
    drive(other, list(other.graph))
    assert digests(runs.corpus) == digests(opened(tmp_path))
