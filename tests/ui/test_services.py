"""The processes of `corpus ui`: nothing stays of a run that has ended; what dies is started again, a few times."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks.ui_server import Server, serving
from corpus_assets.orchestration.instance.services import RESTARTS
from tests.build.small import opened, write_small

pytestmark = pytest.mark.slow

LIMIT_SECONDS = 240
SERVICES = ["instance.services", "code-server start", "api grpc", "corpus_assets.webserver", "dagster._daemon"]
TRACKER = "multiprocessing.resource_tracker"
"""The code server has one, for all runs that it starts."""

LAUNCH = """mutation($e: ExecutionParams!) { launchPipelineExecution(executionParams: $e) { __typename
    ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
BACKFILL = """mutation($p: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $p) { __typename
    ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(_corpus(tmp_path_factory.mktemp("services"))) as found:
        yield found


def _corpus(folder: Path) -> Path:
    return write_small(folder, {"engine.workers": 2})


def until(true: Callable[[], bool]) -> bool:
    """Wait until something is true; whether it became so in time."""
    ends = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < ends:
        if true():
            return True
        time.sleep(0.5)
    return False


def launch(
    server: Server,
    assets: Sequence[str] = (),
    tags: Mapping[str, str] | None = None,
    job: str = "__ASSET_JOB",
    checks: Sequence[tuple[str, str]] = (),
) -> str:
    """Launch a run as the web UI does; its id. A code server that has just started may not answer at once."""
    selector = {
        "repositoryLocationName": "corpus",
        "repositoryName": "__repository__",
        "pipelineName": job,
        "assetSelection": [{"path": [name]} for name in assets] or None,
        "assetCheckSelection": [{"assetKey": {"path": [of]}, "name": name} for of, name in checks],
    }
    metadata = {"tags": [{"key": key, "value": value} for key, value in (tags or {}).items()]}
    given = {"selector": selector, "mode": "default", "runConfigData": {}, "executionMetadata": metadata}
    answers: list[Any] = []

    def is_launched() -> bool:
        answers.append(server.ask(LAUNCH, e=given)["launchPipelineExecution"])
        return bool(answers[-1]["__typename"] == "LaunchRunSuccess")

    assert until(is_launched), answers[-1]
    run: str = answers[-1]["run"]["runId"]
    return run


def status(server: Server, run: str) -> str:
    """The status of a run."""
    query = "query($r: ID!) { runOrError(runId: $r) { ... on Run { status } } }"
    found: str = server.ask(query, r=run)["runOrError"]["status"]
    return found


def ended(server: Server, run: str) -> str:
    """The status of a run when it has ended."""
    until(lambda: status(server, run) in {"SUCCESS", "FAILURE", "CANCELED"})
    return status(server, run)


def only_services(server: Server) -> bool:
    """Whether nothing but the services is there: no run, fork server, worker or compiler."""
    try:
        commands = [" ".join(one.cmdline()) for one in server.processes()]
    except psutil.Error:  # One has just ended.
        return False
    return all(any(part in command for part in [*SERVICES, TRACKER]) for command in commands)


def test_nothing_stays_of_runs_that_have_ended_however_they_were_started(server: Server) -> None:
    shards = {"dagster/asset_partition_range_start": "books--one", "dagster/asset_partition_range_end": "books--two"}
    assert ended(server, launch(server, ["inventory"])) == "SUCCESS"
    assert ended(server, launch(server, ["raw_source"], {"dagster/partition": "books--one"})) == "SUCCESS"
    assert ended(server, launch(server, ["raw_source", "normalized_documents"], shards)) == "SUCCESS"
    assert until(lambda: only_services(server)), server.processes()
    assert ended(server, launch(server, job="build_documents")) == "SUCCESS"
    keys = [{"path": [name]} for name in ("short_documents", "minhashes", "band_keys")]
    found = server.ask(BACKFILL, p={"allPartitions": True, "assetSelection": keys})["launchPartitionBackfill"]
    query = "query($b: String!) { partitionBackfillOrError(backfillId: $b) { ... on PartitionBackfill { status } } }"
    asked = {"b": found["backfillId"]}
    assert until(lambda: server.ask(query, **asked)["partitionBackfillOrError"]["status"] == "COMPLETED_SUCCESS")
    assert ended(server, launch(server, job="build_corpus")) == "SUCCESS"
    assert ended(server, launch(server, checks=[("decontaminated_train", "conservation_of_rows")])) == "SUCCESS"
    assert until(lambda: only_services(server)), server.processes()
    assert len(server.processes(TRACKER)) <= 1


def kill(server: Server, service: str) -> None:
    """Kill a service, and wait for the next process of it. A code server may have an older one that ends by itself."""
    before = server.processes(service)
    max(before, key=lambda one: one.create_time()).kill()
    assert until(lambda: any(one not in before for one in server.processes(service)))


def test_services_that_die_are_started_again_and_go_on(server: Server) -> None:
    for service in SERVICES[1:]:
        kill(server, service)
        server.wait()
    assert ended(server, launch(server, ["inventory"])) == "SUCCESS"


def test_what_dies_again_and_again_ends_all_with_its_name_and_exit_code_1(tmp_path: Path) -> None:
    folder = _corpus(tmp_path)
    with serving(folder) as server, opened(folder).exclusive():  # The run waits for the store as long as we hold it.
        run = launch(server, ["inventory"])
        assert until(lambda: status(server, run) == "STARTED")
        for _ in range(RESTARTS):
            kill(server, "dagster._daemon")
        server.processes("dagster._daemon")[0].kill()
        assert server.process.wait(LIMIT_SECONDS) == 1
        assert until(lambda: not server.processes()), server.processes()
    last = (folder / "ui.log").read_text().splitlines()[-1]
    assert last.startswith("corpus ui ends: Dagster's daemon has ended (by SIGKILL) for the 4th time within 10 minutes")
