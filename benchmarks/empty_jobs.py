"""Empty work in a module that workers can import (`benchmarks.engines`, `benchmarks.worker_memory`)."""

import os

from resources.stage.jobs.job import Job, Outcome
from resources.stage.task import Task


def nothing(_: Task) -> None:
    """Computes nothing; the job commits that."""


def returned(job: Job) -> Outcome:
    """Commits nothing."""
    return Outcome(job.name, job.stage.name, job.partition)


def process_id(_: object) -> int:
    """The process that calls this."""
    return os.getpid()
