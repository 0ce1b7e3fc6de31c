"""Jobs that do nothing, in a module that workers can import (`benchmarks.engines`)."""

from resources.stage.job import Job, Outcome
from resources.stage.task import Task


def nothing(_: Task) -> None:
    """Computes nothing; the job commits that."""


def returned(job: Job) -> Outcome:
    """Commits nothing."""
    return Outcome(job.name, job.stage.name, job.partition)
