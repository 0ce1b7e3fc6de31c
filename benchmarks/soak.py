"""The sensor under changing raw files: `python -m benchmarks.soak [--minutes 5] [--tick 15] [--seed N] [--json]`.

`corpus ui` runs with the sensor on, and a raw file is added, changed or deleted every few seconds. Afterwards this is
looked at, and the script ends with 1 if any of it is not so:

- `failed_ticks`: those that ended with an error. A run fails if a file goes while it reads it (`failed_runs`); what is
  left of it is built by the next.
- `ticks_behind`: the most ticks at which no run was active, and that came after a change and before the run that built
  it. 1 is the tick that launches that run.
- `computed_twice`: partitions that were computed again though they would have been made of the same.
- `processes_left`, `memory_mb`, `open_files`: by how much the services have grown since they first were at rest.
- `left_after_end`: processes that are still there after the services were told to end.
- `differing`: partitions whose content is another than in a new build of the raw files that are left.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import psutil

from benchmarks.ui_server import Server, serving
from corpus_assets.checking import asset_key
from corpus_assets.orchestration.home.folder import FOLDER
from corpus_assets.orchestration.sensor import INTERVAL_VARIABLE
from resources.planning.planner import Status
from tests.build.small import digests, drive, opened, prose, write_raw, write_small

ROOT = Path(__file__).resolve().parents[1]
MINUTES, TICK = 5.0, 15
REST_SECONDS, END_SECONDS, RUN_ENDS_SECONDS = 600.0, 60.0, 60.0
MOST_MEMORY_MB = 100.0
_NAMES, _LEAST_FILES = 24, 14
"""Different names, and files that are there at any time: a source that lost most of what it had is held back."""

CHANGES: dict[str, Any] = {
    "tokenizer": {"kind": "tokenizer_json", "path": "tokenizer.json", "eos": "<|endoftext|>"},
    "engine.workers": 1,
}
"""Changes of the small configuration."""
_PAUSES = (1.0, 5.0)
_PAGE = 1000
_SENSOR = {
    "repositoryName": "__repository__",
    "repositoryLocationName": "corpus",
    "sensorName": "build_what_is_not_fresh",
}
_START = "mutation($s: SensorSelector!) { startSensor(sensorSelector: $s) { __typename } }"
_TICKS = """query($s: SensorSelector!, $n: Int!) { sensorOrError(sensorSelector: $s) { ... on Sensor { sensorState {
    ticks(limit: $n) { timestamp status runIds skipReason error { message } } } } } }"""
_RUNS = """{ runsOrError(limit: 10000) { ... on Runs { results { runId status creationTime startTime endTime } } } }"""


@dataclass
class Changes:
    """Raw files that come, change and go, by a seed. times: when each change was made, in seconds since 1970."""

    folder: Path
    chance: random.Random
    times: list[float] = field(default_factory=list)

    def one(self) -> None:
        """Makes one change."""
        files = sorted(self.folder.joinpath("raw/books").glob("soak-*.jsonl"))
        free = sorted({f"soak-{number:02}.jsonl" for number in range(_NAMES)} - {file.name for file in files})
        kind = self.chance.choice(["add", "change", "delete"])
        if kind == "add" and free:
            self._write(self.chance.choice(free))
        elif kind == "delete" and len(files) > _LEAST_FILES:
            self.chance.choice(files).unlink()
        else:
            self._write(self.chance.choice(files).name)
        self.times.append(time.time())

    def first(self) -> None:
        """Writes as many files as are there at any time."""
        for number in range(_LEAST_FILES):
            self._write(f"soak-{number:02}.jsonl")

    def _write(self, name: str) -> None:
        number = self.chance.randrange(1 << 30)
        rows = [
            {"id": f"{name}-{number}-{n}", "text": prose(f"{number} {n}")} for n in range(self.chance.randint(1, 9))
        ]
        write_raw(self.folder, f"books/{name}.new", rows)
        (self.folder / f"raw/books/{name}.new").replace(self.folder / f"raw/books/{name}")


def measure(minutes: float, tick: int, seed: int) -> dict[str, Any]:
    """The figures of so many minutes of changes."""
    with tempfile.TemporaryDirectory() as place:
        folder = _corpus(Path(place) / "corpus")
        changes = Changes(folder, random.Random(seed))
        changes.first()
        with serving(folder, environment={**os.environ, INTERVAL_VARIABLE: str(tick)}) as server:
            assert server.ask(_START, s=_SENSOR)["startSensor"]["__typename"] == "Sensor"
            _until_rest(server, 0.0)
            before = _held(server)
            end = time.monotonic() + 60 * minutes
            while time.monotonic() < end:
                changes.one()
                time.sleep(changes.chance.uniform(*_PAUSES))
            rested = _until_rest(server, time.time())
            after = _held_at_rest(server, before["processes"])
            ticks, runs = _ticks(server), _runs(server)
            left = _ended(server)
        return {
            "seed": seed,
            "minutes": round(minutes, 1),
            "changes": len(changes.times),
            "ticks": len(ticks),
            "failed_ticks": sum(one["status"] == "FAILURE" for one in ticks),
            "runs": len(runs),
            "failed_runs": sum(run["status"] != "SUCCESS" for run in runs),
            "ticks_behind": max(_behind(changes.times, ticks, runs), default=0),
            "seconds_until_rest": round(rested, 1),
            "computed_twice": len(list(_twice(folder))),
            "processes_left": after["processes"] - before["processes"],
            "memory_mb": round((after["memory"] - before["memory"]) / 1e6, 1),
            "open_files": after["files"] - before["files"],
            "left_after_end": left,
            **_compared(folder, Path(place) / "fresh"),
        }


def faults(found: Mapping[str, Any]) -> list[str]:
    """What is not as it must be."""
    most = {"ticks_behind": 1, "memory_mb": MOST_MEMORY_MB}
    names = (
        "failed_ticks",
        "computed_twice",
        "processes_left",
        "left_after_end",
        "not_fresh",
        "differing",
    )
    return [f"{name} is {found[name]}" for name in (*names, *most) if found[name] > most.get(name, 0)]


def _corpus(folder: Path) -> Path:
    """A small corpus whose tokenizer is a file: one that is trained stays as it is when the texts change."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    folder.mkdir()
    write_small(folder, CHANGES)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([prose(number) for number in range(20)], trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    shutil.copyfile(ROOT / "dagster.yaml", folder / "dagster.yaml")
    return folder


def _ticks(server: Server) -> list[dict[str, Any]]:
    """All ticks, the first one first."""
    found = server.ask(_TICKS, s=_SENSOR, n=100_000)["sensorOrError"]["sensorState"]["ticks"]
    return sorted(found, key=lambda one: float(one["timestamp"]))


def _runs(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask(_RUNS)["runsOrError"]["results"]
    return found


def _until_rest(server: Server, since: float) -> float:
    """Waits for a tick after a moment that finds everything fresh; returns the seconds until then."""
    started = time.monotonic()
    while time.monotonic() - started < REST_SECONDS and server.process.poll() is None:
        if not since and any(run["status"] == "FAILURE" for run in _runs(server)):
            raise SystemExit(f"the first run has failed: {(server.folder / 'ui.log').read_text()[-3000:]}")
        for one in _ticks(server)[-3:]:
            said = str(one["skipReason"] or "")
            if one["timestamp"] > since and said.startswith("nothing can start") and " 0 stale, 0 waiting" in said:
                return time.monotonic() - started
        time.sleep(1)
    raise SystemExit(f"the sensor does not come to rest: {_ticks(server)[-3:]}")


def _behind(changes: list[float], ticks: list[dict[str, Any]], runs: list[dict[str, Any]]) -> Iterator[int]:
    """For each change: the ticks before it was built, without those at which a run was active.

    It is built by the next run that starts, or it was by one that had just started: then a tick finds nothing to do.
    """
    free = [one for one in ticks if "runs are active" not in str(one["skipReason"])]
    known = [float(run["startTime"]) for run in runs if run["startTime"]]
    known += [float(one["timestamp"]) for one in free if str(one["skipReason"]).startswith("nothing can start")]
    for change in changes:
        built = min((when for when in known if when > change), default=float("inf"))
        yield sum(change < float(one["timestamp"]) < built for one in free)


def _held(server: Server) -> dict[str, int]:
    """Processes of the services, their memory and open files; those that ended meanwhile are left out."""
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


def _held_at_rest(server: Server, processes: int) -> dict[str, int]:
    """Returns the same, once there are no more processes than that: one of a run ends a while after the run."""
    deadline = time.monotonic() + RUN_ENDS_SECONDS
    while (found := _held(server))["processes"] > processes and time.monotonic() < deadline:
        time.sleep(1)
    return found


def _ended(server: Server) -> int:
    """Tells the services to end; returns how many processes are left."""
    server.process.send_signal(signal.SIGINT)
    server.process.wait(END_SECONDS)
    return len(server.processes())


def _twice(folder: Path) -> Iterator[str]:
    """Every partition that was computed again of the same, though nothing else was computed of it in between."""
    with dg.DagsterInstance.from_config(str(folder / FOLDER)) as instance:
        for stage in opened(folder).graph:
            made: dict[str | None, list[tuple[str, str]]] = {}
            for event in _events(instance, stage.name):
                if (details := event.metadata.get("details")) is not None:
                    value: Any = details.value
                    made.setdefault(event.partition, []).append((value["recipe"], value["computed"]))
            for key, all_of in made.items():
                for (recipe, when), (before, earlier) in pairwise(all_of):
                    if recipe == before and when != earlier:  # What was only reported again has one time.
                        sys.stderr.write(f"computed twice: {stage.name}/{key}, {earlier} and {when}\n")
                        yield f"{stage.name}/{key}"


def _events(instance: dg.DagsterInstance, asset: str) -> Iterator[dg.AssetMaterialization]:
    cursor: str | None = None
    while True:
        page = instance.fetch_materializations(asset_key(asset), limit=_PAGE, cursor=cursor)
        yield from (event for record in page.records if (event := record.asset_materialization) is not None)
        if not page.has_more:
            return
        cursor = page.cursor


def _compared(folder: Path, other: Path) -> dict[str, int]:
    """Partitions that are not fresh, and those that are other than in a new build of the same files."""
    for name in ("raw", "tokenizer.json", "corpus.yaml"):
        copy = shutil.copytree if (folder / name).is_dir() else shutil.copyfile
        other.mkdir(exist_ok=True)
        copy(folder / name, other / name)
    new, corpus = opened(other), opened(folder)
    assert not drive(new, list(new.graph)).failed
    ours, theirs = digests(corpus), digests(opened(other))
    return {
        "partitions": len(ours),
        "not_fresh": sum(one.status is not Status.FRESH for one in corpus.planner().plan().decisions),
        "differing": sum(ours.get(name) != theirs.get(name) for name in {*ours, *theirs}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long files change (60: an hour)")
    parser.add_argument("--tick", type=int, default=TICK, help="seconds between two ticks of the sensor")
    parser.add_argument("--seed", type=int, default=None, help="of the changes; by default another one each time")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 30) if given.seed is None else given.seed
    sys.stderr.write(f"seed {seed}\n")
    found = measure(given.minutes, given.tick, seed)
    if given.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:24}{value:>12,}" for name, value in found.items()))
    if wrong := faults(found):
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()
