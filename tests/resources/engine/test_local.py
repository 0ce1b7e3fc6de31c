"""The local engine: Ctrl-C in a worker ends the run; it is no fault of a job, and nobody shows a traceback."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from resources.engine.interface import Queue
from resources.engine.local import LocalEngine
from resources.engine.time_limit import within
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Job, Outcome
from resources.storage.local.store import LocalStorage


def nothing(_: Any) -> None:
    """Computes nothing."""


def interrupted(job: Job) -> Outcome:
    """A job during which somebody presses Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
    return Outcome(job.name, job.stage.name, job.partition, error="went on after Ctrl-C")


def died(job: Job) -> Outcome:
    """A job that kills its worker."""
    os._exit(9)


def _endless(job: Job) -> Outcome:
    """A job that never ends for one partition, and that takes every ordinary exception for a bad row."""
    while job.partition == "chunk-1":
        with suppress(Exception):
            time.sleep(0.01)
    return Outcome(job.name, job.stage.name, job.partition)


def _deaf(job: Job) -> Outcome:
    """A job of which one partition does not come back to Python for the alarm, as code in C may."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    return _endless(job)


def _met(job: Job) -> Outcome:
    """A job that ends when one of another partition has begun too."""
    store = job.storage
    store.write(f"begun-{job.partition}", b"")
    until = time.monotonic() + 30
    while len(list(store.paths(""))) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    found = len(list(store.paths("")))
    return Outcome(job.name, job.stage.name, job.partition, error=None if found == 2 else "no other began")


def jobs(folder: Path, count: int) -> list[Job]:
    stage = Stage("a", "g", "", Partitioning.CHUNK, nothing, "1", "records")
    return [Job(stage, f"chunk-{n}", (), {}, {}, LocalStorage(folder), 1 << 20) for n in range(count)]


@pytest.mark.parametrize("count", [1, 5])
def test_an_interrupted_worker_interrupts_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], count: int
) -> None:
    engine = LocalEngine(2, interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(engine.run(jobs(tmp_path, count)))
    engine.close()
    assert "Traceback" not in capfd.readouterr().err


DRIVER = """
import os, signal
from multiprocessing import forkserver
from pathlib import Path
from tests.resources.engine.test_local import LocalEngine, died, jobs

os.environ["DRIVER"] = str(os.getpid())
signal.signal(signal.SIGINT, signal.default_int_handler)
forkserver.read_signed = lambda _: signal.raise_signal(signal.SIGINT)  # where a driver waits for a new worker
engine = LocalEngine(1, died)
engine.prepare(["loads_long"])
try:
    list(engine.run(jobs(Path.cwd(), 1)))
except KeyboardInterrupt:
    print("interrupted")
"""
LOADS_LONG = """
import os, time

while os.getppid() == int(os.environ["DRIVER"]):
    time.sleep(0.01)
"""


def test_a_worker_that_begins_after_an_interrupted_driver_ended_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "loads_long.py").write_text(LOADS_LONG)
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    command = [sys.executable, "-c", DRIVER]
    environment = {**os.environ, "PYTHONPATH": paths}
    # The output ends when the worker does, which has it open too.
    ended = subprocess.run(
        command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100
    )
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


WHILE_LOADING = """
import os, signal, time
from pathlib import Path
from tests.resources.engine.test_local import LocalEngine

os.environ["DRIVER"] = str(os.getpid())
signal.signal(signal.SIGINT, signal.default_int_handler)
LocalEngine(1).prepare(["says_that_it_loads"])
try:
    while not Path("loads").exists():
        time.sleep(0.01)
    os.killpg(0, signal.SIGINT)  # as Ctrl-C in a terminal
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_while_modules_are_loaded_for_workers_shows_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "says_that_it_loads.py").write_text(f"open('loads', 'w')\n{LOADS_LONG}")
    paths = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])])
    ended = subprocess.run(
        [sys.executable, "-c", WHILE_LOADING],
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=100,
        start_new_session=True,
    )
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")


def test_a_worker_that_dies_otherwise_fails_its_job(tmp_path: Path) -> None:
    engine = LocalEngine(2, died)
    outcomes = list(engine.run(jobs(tmp_path, 2)))
    engine.close()
    assert sorted(str(outcome.partition) for outcome in outcomes) == ["chunk-0", "chunk-1"]
    assert all("the worker process ended by itself with exit code" in str(outcome.error) for outcome in outcomes)


def test_a_job_that_takes_too_long_fails_by_name_and_the_others_go_on(tmp_path: Path) -> None:
    engine = LocalEngine(1, _endless, job_timeout=0.2)
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 4))}
    engine.close()
    assert outcomes.pop("chunk-1") == "it takes longer than engine.job_timeout allows (0.2 s)"
    assert outcomes == {"chunk-0": None, "chunk-2": None, "chunk-3": None}


def test_a_job_that_cannot_be_interrupted_ends_with_its_worker(tmp_path: Path) -> None:
    engine = LocalEngine(1, job_timeout=0.2)
    engine._work = within(0.2, _deaf, grace=0.2)
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 3))}
    engine.close()
    assert outcomes.pop("chunk-1") == "it takes longer than engine.job_timeout allows (0.2 s)"
    assert outcomes == {"chunk-0": None, "chunk-2": None}


def _done(job: Job) -> Outcome:
    return Outcome(job.name, job.stage.name, job.partition)


def _dies_at_30(job: Job) -> Outcome:
    """A quick job, of which one partition kills its worker."""
    if job.partition == "chunk-30":
        os._exit(9)
    return Outcome(job.name, job.stage.name, job.partition)


def test_a_worker_that_dies_fails_one_of_the_many_jobs_that_it_was_given(tmp_path: Path) -> None:
    engine = LocalEngine(2, _dies_at_30)
    outcomes = {outcome.partition: outcome.error for outcome in engine.run(jobs(tmp_path, 300))}
    engine.close()
    assert outcomes.keys() == {f"chunk-{n}" for n in range(300)}
    assert {partition for partition, error in outcomes.items() if error} == {"chunk-30"}


def _echoes(job: Job) -> Outcome:
    return Outcome(job.name, job.stage.name, job.partition, error=job.parameters["large"])


def test_large_jobs_and_large_outcomes_do_not_wait_for_each_other(tmp_path: Path) -> None:
    large = "x" * (1 << 22)
    engine = LocalEngine(2, _echoes)
    given = [replace(job, parameters={"large": large}) for job in jobs(tmp_path, 30)]
    assert all(outcome.error == large for outcome in engine.run(given))
    engine.close()


def test_a_closed_engine_waits_for_the_job_in_hand_and_begins_no_other(tmp_path: Path) -> None:
    engine = LocalEngine(1, _marks)
    given = [replace(job, parameters={"folder": str(tmp_path)}) for job in jobs(tmp_path, 1000)]
    running = engine.run(iter(given))
    next(running)
    engine.close()
    assert {file.suffix for file in tmp_path.iterdir()} == {".done"}
    assert len(list(tmp_path.iterdir())) < len(given)


def _marks(job: Job) -> Outcome:
    begun = Path(job.parameters["folder"], f"{job.partition}.begun")
    begun.touch()
    begun.rename(begun.with_suffix(".done"))
    return Outcome(job.name, job.stage.name, job.partition)


def _process_of(_: int) -> int:
    return os.getpid()


def _dies_elsewhere(item: tuple[int, int]) -> int:
    """Ends the process at the third item, unless it is the one that asked."""
    number, asking = item
    if number == 2 and os.getpid() != asking:
        os._exit(9)
    return number


def test_functions_are_spread_over_the_workers_that_jobs_started(tmp_path: Path) -> None:
    engine = LocalEngine(2, _done)
    assert set(engine.spread(_process_of, range(3))) == {os.getpid()}
    list(engine.run(jobs(tmp_path, 2)))
    assert os.getpid() not in set(engine.spread(_process_of, range(3)))
    assert list(engine.spread(str, range(20))) == [str(number) for number in range(20)]
    assert list(engine.spread(_dies_elsewhere, [(n, os.getpid()) for n in range(5)])) == list(range(5))
    engine.close()


def test_a_queue_that_has_more_after_a_while_is_asked_again_while_a_long_job_runs(tmp_path: Path) -> None:
    first, second = jobs(tmp_path, 2)
    asked = iter([first, None, None, second])
    engine = LocalEngine(2, _met)
    try:
        found = list(engine.run(Queue(lambda: next(asked, None), lambda: 0.01)))
    finally:
        engine.close()
    assert sorted((outcome.partition, outcome.error) for outcome in found) == [("chunk-0", None), ("chunk-1", None)]


_LEFT: list[Any] = []


def _leaves_its_engine(folder: Path, work: Callable[[Job], Outcome]) -> None:
    """Computes, and leaves the workers that are alive to the end of the process, in the middle of a run."""
    running = LocalEngine(2, work).run(jobs(folder, 3))
    next(running)
    _LEFT.append(running)


def _dies_first(job: Job) -> Outcome:
    """A job of which the first partition kills its worker, so that the others are given to a worker alone."""
    if job.partition == "chunk-0":
        os._exit(9)
    return Outcome(job.name, job.stage.name, job.partition)


@pytest.mark.parametrize("work", [_done, died, _dies_first])
def test_a_process_of_multiprocessing_ends_though_nobody_closed_its_engine(
    tmp_path: Path, work: Callable[[Job], Outcome]
) -> None:
    """It waits for its children before `atexit`; a run in the code server of Dagster is such a process."""
    child = get_context("spawn").Process(target=_leaves_its_engine, args=(tmp_path, work))
    child.start()
    child.join(60)
    ended = child.exitcode
    child.kill()
    child.join()
    assert ended == 0


class _InterruptedError(BaseException):
    """What Dagster makes of an interrupt of a run."""


def test_who_is_interrupted_waits_for_no_job_in_hand(tmp_path: Path) -> None:
    """The second job never ends."""
    engine = LocalEngine(1, _endless)
    with pytest.raises(_InterruptedError):
        list(engine.run(Queue(_until_interrupted(jobs(tmp_path, 2)), lambda: 0.01)))
    closing = threading.Thread(target=engine.close, daemon=True)
    closing.start()
    closing.join(60)
    assert not closing.is_alive()


def _until_interrupted(given: list[Job]) -> Callable[[], Job | None]:
    """Gives out jobs, then says once that there are none now, then interrupts."""
    left = iter([*given, None])

    def take() -> Job | None:
        for job in left:
            return job
        raise _InterruptedError

    return take
