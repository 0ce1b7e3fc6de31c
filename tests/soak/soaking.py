"""A soak: services, operations, and what is found afterwards."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.error import URLError

from benchmarks.ui_server import Server, serving
from corpus_assets.orchestration.freshness.failures import failures
from corpus_assets.orchestration.sensor import INTERVAL_VARIABLE
from resources.ledger.records import Record
from resources.planning.planner import Status
from tests.build.small import opened
from tests.faults.command import MAIN
from tests.house import TOP
from tests.secrets.planted import found_below, found_in, planted_environment
from tests.soak import services
from tests.soak.operations import ALL, AT_REST, RAW_FILES, Operations

REST_SECONDS = 600.0
PAUSES = (0.5, 6.0)
BAD = "soak-bad.jsonl.gz"
_TICKS_OF_BAD = 3
MOST_TRIES = 2
MOST_MEMORY_MB = 150.0
_NO_ANSWER = (URLError, ConnectionError, AssertionError)
"""What a question ends with while a service is started again."""


@dataclass
class Soak:
    """A soak under way. tick: seconds between two ticks of the sensor."""

    server: Server
    operations: Operations
    tick: int

    def rests(self) -> float:
        """Waits until nothing is left to do; returns the seconds until then.

        A state over which a run was killed is tried again after a change.
        """
        since, began = time.time(), time.monotonic()
        said = ""
        while time.monotonic() < began + REST_SECONDS:
            time.sleep(1)
            with suppress(*_NO_ANSWER):
                new = [one for one in services.ticks(self.server)[-3:] if float(one["timestamp"]) > since]
                for said in (str(one["skipReason"] or "") for one in new):
                    if said.startswith("nothing can start") and " 0 stale, 0 waiting" in said:
                        return time.monotonic() - began
                    if self.operations.kills and (
                        "and left it as it is" in said or "what can start has failed" in said
                    ):
                        _tell(f"{self.operations.do('edit')}, since {said[:200]}")
                        since = time.time()
                        break
        raise SystemExit(f"the sensor does not come to rest: {said}")

    def changed_for(self, seconds: float, weights: Mapping[str, int]) -> None:
        """Does operations, one after another with pauses, for some seconds."""
        end, chance = time.monotonic() + seconds, self.operations.chance
        while time.monotonic() < end:
            _tell(self.operations.one(weights))
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
        """Yields operations at rest after which something else was computed than the plan said.

        A partition that waits may come out fresh or not: it is computed if its inputs are others, and only then.
        """
        folder = self.operations.folder
        for name in AT_REST:
            with self._without_ticks():  # Else a run may begin before the plan is made.
                before = _made(folder)
                said = self.operations.surely(name)
                if name == "damage_output":
                    self._corpus("verify", "--deep", "--mend")
                due = {one.name: one.status for one in opened(folder).planner().plan().decisions}
            self.rests()
            for fault in unplanned(due, before, _made(folder)):
                _tell(f"{said}: {fault}")
                yield f"{said}: {fault}"

    def tries_of_a_bad_file(self) -> tuple[int, str]:
        """Returns how many runs tried a file that cannot be read, and what is said of it."""
        folder = self.operations.folder
        (folder / "raw/books" / BAD).write_bytes(b"this is no gzip file")
        began = time.time()
        asset, key = "normalized_documents", "books--soak-bad"
        said = ""
        while not said and time.time() - began < REST_SECONDS:
            time.sleep(1)
            planner = opened(folder).planner()
            failure = failures(planner, planner.graph[asset]).get(key)
            said = "" if failure is None else failure.error
        time.sleep(_TICKS_OF_BAD * self.tick)
        tries = sum(run["creationTime"] >= began for run in services.runs(self.server))
        (folder / "raw/books" / BAD).unlink()
        self.rests()
        return tries, said

    @contextmanager
    def _without_ticks(self) -> Iterator[None]:
        """Keeps the sensor from starting runs."""
        services.stop_sensor(self.server)
        try:
            yield
        finally:
            self._answered(services.start_sensor)

    def _answered(self, ask: Callable[[Server], None]) -> None:
        """Asks until the web server answers: it may have been killed."""
        end = time.monotonic() + REST_SECONDS
        while time.monotonic() < end:
            with suppress(*_NO_ANSWER):
                return ask(self.server)
            time.sleep(1)
        raise SystemExit("the web server is not there again")

    def _corpus(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", MAIN, *arguments],
            cwd=self.operations.folder,
            env={**os.environ, "PYTHONPATH": str(TOP)},
            check=False,
            capture_output=True,
            text=True,
        )


def measure(seconds: float, tick: int, seed: int, *, raw_files: bool = False, postgres: bool = False) -> dict[str, Any]:
    """Returns what is found after so many seconds of operations.

    raw_files: only raw files change, and no process is killed; then it is found how far the sensor was behind.
    """
    with (
        tempfile.TemporaryDirectory() as place,
        services.database(postgres) as database,
        patch.dict(os.environ, database),
    ):
        folder = services.corpus(Path(place) / "corpus")
        environment = {**os.environ, **planted_environment(), INTERVAL_VARIABLE: str(tick)}
        with serving(folder, environment=environment) as server:
            operations = Operations(folder, server, random.Random(seed), services.CHANGES)
            operations.first()
            services.start_sensor(server)
            running = Soak(server, operations, tick)
            running.rests()
            before, lines = services.held(server), _command_lines(server)
            running.changed_for(seconds, RAW_FILES if raw_files else ALL)
            lines |= _command_lines(server)
            rested = running.rests()
            found = _of_raw_files(running) if raw_files else _of_everything(running)
            after = services.held_at_rest(server, before["processes"])
            runs = services.runs(server)
            left = services.ended(server)
        return {
            "seed": seed,
            "seconds": round(seconds),
            "operations": sum(operations.done.values()),
            **{name: operations.done[name] for name in sorted(operations.done)},
            "runs": len(runs),
            "failed_runs": sum(run["status"] != "SUCCESS" for run in runs),
            "seconds_until_rest": round(rested, 1),
            **found,
            "computed_in_vain": len(services.in_vain(folder, operations.harms)),
            "processes_left": after["processes"] - before["processes"],
            "memory_mb": round((after["memory"] - before["memory"]) / 1e6, 1),
            "open_files": after["files"] - before["files"],
            "left_after_end": left,
            "secrets_said": len([line for line in lines if found_in(line)]) + len(found_below(folder)),
            **services.compared(folder, Path(place) / "fresh"),
        }


def _of_raw_files(running: Soak) -> dict[str, int]:
    """Returns how the sensor kept up."""
    ticks, runs = services.ticks(running.server), services.runs(running.server)
    return {
        "ticks": len(ticks),
        "failed_ticks": sum(one["status"] == "FAILURE" for one in ticks),
        "ticks_behind": max(services.behind(running.operations.times, ticks, runs), default=0),
    }


def _of_everything(running: Soak) -> dict[str, int]:
    """Returns whether, at rest, exactly what is planned is computed, and what becomes of a file that cannot be read."""
    running.mended()
    faults = list(running.exact())
    tries, said = running.tries_of_a_bad_file()
    return {
        "operations_at_rest": len(AT_REST),
        "not_as_planned": len(faults),
        "tries_of_a_bad_file": tries,
        "bad_file_unexplained": int(not said),
    }


def faults(found: Mapping[str, Any]) -> list[str]:
    """Returns what is not as it must be."""
    most = {"tries_of_a_bad_file": MOST_TRIES, "memory_mb": MOST_MEMORY_MB, "ticks_behind": 1}
    none = (
        *("computed_in_vain", "not_as_planned", "bad_file_unexplained", "processes_left", "left_after_end"),
        *("secrets_said", "failed_ticks", "not_fresh", "differing"),
    )
    return [f"{name} is {found[name]}" for name in (*none, *most) if found.get(name, 0) > most.get(name, 0)]


def unplanned(due: Mapping[str, Status], before: Mapping[str, Record], after: Mapping[str, Record]) -> list[str]:
    """Returns in words what was computed otherwise than planned. before, after: the records of all partitions."""
    computed = {one for one in after if one not in before or after[one].created != before[one].created}
    fresh = {one for one, status in due.items() if status is Status.FRESH}
    waited = {one for one, status in due.items() if status is Status.WAITING}
    in_vain = {one for one in computed & waited & before.keys() if after[one].recipe == before[one].recipe}
    wrong = {
        "was fresh, and was computed": computed & fresh,
        "was to be computed, and was not": due.keys() - fresh - waited - computed,
        "waited for what came out equal, and was computed": in_vain,
        "was not in the plan, and was computed": computed - due.keys(),
    }
    return [f"{one} {words}" for words, names in wrong.items() for one in sorted(names)]


def _made(folder: Path) -> dict[str, Record]:
    corpus = opened(folder)
    return {
        f"{stage.name}/{key}" if key else stage.name: record
        for stage in corpus.graph
        for key, record in corpus.ledger.records(stage.name).items()
    }


def _command_lines(server: Server) -> set[str]:
    return {" ".join(process.cmdline()) for process in server.processes()}


def _tell(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
