"""Builders that are held at a known moment, so that a test need not meet it by chance.

They are held in their workers, which take the leases.
"""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from resources.engine.local import LocalEngine
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from resources.storage.s3.upload import S3Unpublished
from tests.faults.command import MAIN
from tests.faults.kill_in_stage import around

HERE = "from tests.faults import held_builder\n"


def waiting(go: Path) -> str:
    """The code of a builder that begins no partition before a file is there."""
    return f"{HERE}held_builder.waits_for({str(go)!r})\n{MAIN}"


def stopping(stage: str) -> str:
    """The code of a builder that is stopped under a lease: it has written a partition of a stage, and publishes it."""
    return f"{HERE}held_builder.stops_in({stage!r})\n{MAIN}"


def waits_for(go: str) -> None:
    _work_by(partial(_when_there, Path(go)))


def stops_in(stage: str) -> None:
    _work_by(partial(_stopped_once, stage))


def _work_by(work: Callable[[Job], Outcome]) -> None:
    around(LocalEngine, "__init__", lambda call, *args, **more: call(*args, **more | {"work": work}))


def _when_there(go: Path, job: Job) -> Outcome:
    while not go.exists():
        time.sleep(0.02)
    return run_job(job)


def _stopped_once(stage: str, job: Job) -> Outcome:
    if job.stage.name == stage and not _ARMED:
        _ARMED.append(stage)
        around(S3Unpublished, "publish", _stopped_before)
    return run_job(job)


def _stopped_before(call: Callable[[S3Unpublished], None], unpublished: S3Unpublished) -> None:
    setattr(S3Unpublished, "publish", call)  # noqa: B010  # mypy: a method is assigned
    os.killpg(os.getpgrp(), signal.SIGSTOP)
    call(unpublished)


_ARMED: list[str] = []
"""The stage of whose first partition the writing is stopped, once it has begun."""
