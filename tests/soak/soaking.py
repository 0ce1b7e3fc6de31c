"""A soak: services, operations, and what is found afterwards."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError

from benchmarks import soak
from benchmarks.ui_server import Server, serving
from corpus_assets.orchestration.freshness.failures import failures
from corpus_assets.orchestration.sensor import INTERVAL_VARIABLE
from resources.planning.planner import Status
from tests.build.small import opened
from tests.faults.command import MAIN
from tests.house import TOP
from tests.secrets.planted import found_below, found_in, planted_environment
from tests.soak.operations import Operations

PAUSES = (0.5, 6.0)
EXACT = ("edit", "touch", "rename", "parameters", "lose_output")
"""Operations at rest, after each of which exactly what the plan says is computed."""
BAD = "soak-bad.jsonl.gz"
_TICKS_OF_BAD = 3
MOST_TRIES = 2
MOST_MEMORY_MB = 150.0


@dataclass
class Soak:
    """A soak under way. tell: gets a line for each operation."""

    server: Server
    operations: Operations
    tick: int

    def rests(self) -> None:
        """Waits until nothing is left to do; a state over which a run was killed is tried again after a change."""
        since, end = time.time(), time.monotonic() + soak.REST_SECONDS
        said = ""
        while time.monotonic() < end:
            time.sleep(1)
            with suppress(URLError, ConnectionError, AssertionError):  # A service may just be started again.
                new = [one for one in soak._ticks(self.server)[-3:] if float(one["timestamp"]) > since]
                for said in (str(one["skipReason"] or "") for one in new):
                    if said.startswith("nothing can start") and " 0 stale, 0 waiting" in said:
                        return
                    if "and left it as it is" in said or "what can start has failed" in said:
                        _tell(f"{self.operations.do('edit')}, since {said[:200]}")
                        since = time.time()
                        break
        raise SystemExit(f"the sensor does not come to rest: {said}")

    def changed_for(self, seconds: float) -> None:
        """Does operations, one after another with pauses, for some seconds."""
        end, chance = time.monotonic() + seconds, self.operations.chance
        while time.monotonic() < end:
            _tell(self.operations.one())
            time.sleep(chance.uniform(*PAUSES))

    def mended(self) -> None:
        """Finds damage that no build has met, so that it is made again."""
        for _ in range(3):
            done = self._corpus("verify", "--deep", "--mend")
            self.rests()
            if done.returncode == 0:
                return
        raise SystemExit(f"verify does not come to an end: {done.stdout[-2000:]} {done.stderr[-2000:]}")

    def exact(self) -> Iterator[str]:
        """Yields operations at rest after which something else was computed than the plan said."""
        folder = self.operations.folder
        for name in EXACT:
            before = _made(folder)
            said = self.operations.do(name)
            plan = opened(folder).planner().plan()
            due = {one.name: one.status for one in plan.decisions if one.status is not Status.FRESH}
            self.rests()
            after = _made(folder)
            computed = {one for one in after if after[one] != before.get(one)}
            must = {one for one, status in due.items() if status is not Status.WAITING}
            if not must <= computed <= due.keys():
                yield f"{said}: computed {sorted(computed ^ must)[:5]} otherwise than planned"

    def tries_of_a_bad_file(self) -> tuple[int, str]:
        """Returns how many runs tried a file that cannot be read, and what is said of it."""
        folder = self.operations.folder
        (folder / "raw/books" / BAD).write_bytes(b"this is no gzip file")
        began = time.time()
        asset, key = "normalized_documents", "books--soak-bad"
        said = ""
        while not said and time.time() - began < soak.REST_SECONDS:
            time.sleep(1)
            planner = opened(folder).planner()
            failure = failures(planner, planner.graph[asset]).get(key)
            said = "" if failure is None else failure.error
        time.sleep(_TICKS_OF_BAD * self.tick)
        tries = sum(run["creationTime"] >= began for run in soak._runs(self.server))
        (folder / "raw/books" / BAD).unlink()
        self.rests()
        return tries, said

    def _corpus(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            cwd=self.operations.folder,
            env={**os.environ, "PYTHONPATH": str(TOP)},
            check=False,
            capture_output=True,
            text=True,
        )


def measure(seconds: float, tick: int, seed: int) -> dict[str, Any]:
    """Returns what is found after so many seconds of operations."""
    with tempfile.TemporaryDirectory() as place:
        folder = soak._corpus(Path(place) / "corpus")
        environment = {**os.environ, **planted_environment(), INTERVAL_VARIABLE: str(tick)}
        with serving(folder, environment=environment) as server:
            operations = Operations(folder, server, random.Random(seed), soak.CHANGES)
            operations.first()
            assert server.ask(soak._START, s=soak._SENSOR)["startSensor"]["__typename"] == "Sensor"
            running = Soak(server, operations, tick)
            running.rests()
            before = soak._held(server)
            lines = _command_lines(server)
            running.changed_for(seconds)
            lines |= _command_lines(server)
            running.rests()
            running.mended()
            unplanned = list(running.exact())
            tries, said = running.tries_of_a_bad_file()
            after = soak._held_at_rest(server, before["processes"])
            runs = soak._runs(server)
            left = soak._ended(server)
        return {
            "seed": seed,
            "seconds": round(seconds),
            "operations": sum(operations.done.values()),
            **{name: operations.done[name] for name in sorted(operations.done)},
            "runs": len(runs),
            "computed_in_vain": max(0, len(list(soak._twice(folder))) - operations.lost - operations.damaged),
            "not_as_planned": len(unplanned),
            "tries_of_a_bad_file": tries,
            "bad_file_unexplained": int(not said),
            "processes_left": after["processes"] - before["processes"],
            "memory_mb": round((after["memory"] - before["memory"]) / 1e6, 1),
            "left_after_end": left,
            "secrets_said": len([line for line in lines if found_in(line)]) + len(found_below(folder)),
            **soak._compared(folder, Path(place) / "fresh"),
        }


def faults(found: Mapping[str, Any]) -> list[str]:
    """Returns what is not as it must be."""
    most = {"tries_of_a_bad_file": MOST_TRIES, "memory_mb": MOST_MEMORY_MB}
    none = (
        *("computed_in_vain", "not_as_planned", "bad_file_unexplained", "processes_left", "left_after_end"),
        *("secrets_said", "not_fresh", "differing"),
    )
    return [f"{name} is {found[name]}" for name in (*none, *most) if found[name] > most.get(name, 0)]


def _made(folder: Path) -> dict[str, str]:
    """Returns when each partition was computed."""
    corpus = opened(folder)
    return {
        f"{stage.name}/{key}" if key else stage.name: record.created
        for stage in corpus.graph
        for key, record in corpus.ledger.records(stage.name).items()
    }


def _command_lines(server: Server) -> set[str]:
    return {" ".join(process.cmdline()) for process in server.processes()}


def _tell(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
