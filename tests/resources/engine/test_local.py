"""The local engine: Ctrl-C in a worker ends the run; it is no fault of a job, and nobody shows a traceback."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from resources.engine.local import LocalEngine
from resources.stage.declaration import Partitioning, Stage
from resources.stage.job import Job, Outcome
from resources.storage.local import LocalStorage


def nothing(_: Any) -> None:
    """Computes nothing."""


def interrupted(job: Job) -> Outcome:
    """A job during which somebody presses Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)
    return Outcome(job.name, job.stage.name, job.partition, error="went on after Ctrl-C")


def died(job: Job) -> Outcome:
    """A job that kills its worker."""
    os._exit(9)


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


def test_a_worker_that_dies_otherwise_fails_its_job(tmp_path: Path) -> None:
    engine = LocalEngine(2, died)
    outcomes = list(engine.run(jobs(tmp_path, 2)))
    engine.close()
    assert sorted(str(outcome.partition) for outcome in outcomes) == ["chunk-0", "chunk-1"]
    assert all("the worker process died" in str(outcome.error) for outcome in outcomes)
