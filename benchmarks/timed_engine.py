"""The local engine, which notes when each job began and ended. It loads no more than workers need."""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from typing_extensions import override

from resources.engine.local import LocalEngine
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job

TIMES = "CORPUS_BENCHMARK_TIMES"


class Timed(LocalEngine):
    """The local engine; it notes when its first job was asked for and its last one was done."""

    begun = ended = 0.0

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        Timed.begun = Timed.begun or time.monotonic()
        for outcome in super().run(jobs):
            Timed.ended = time.monotonic()
            yield outcome


class Timing(NamedTuple):
    """When a job began and ended, and its CPU seconds."""

    asset: str
    began: float
    ended: float
    cpu: float


def timed_job(job: Job) -> Outcome:
    """Runs a job, and appends its times to a file of this worker's own."""
    began, cpu = time.monotonic(), time.process_time()
    outcome = run_job(job)
    timing = Timing(job.stage.name, began, time.monotonic(), time.process_time() - cpu)
    with Path(os.environ[TIMES], str(os.getpid())).open("a") as times:
        times.write(f"{json.dumps(timing)}\n")
    return outcome


def open_timed(section: Mapping[str, Any]) -> Timed:
    """What `engine.kind` names in the benchmark's corpora."""
    return Timed(section["options"]["workers"], timed_job)
