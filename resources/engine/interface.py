"""The engine interface: how jobs are mapped over partitions, and what every worker needs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from typing_extensions import override

from resources.engine.memory import OWN_MEMORY
from resources.stage.jobs.job import Job, Outcome

T = TypeVar("T")
R = TypeVar("R")

WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "1",
}
"""Environment of every worker, set before a library is loaded: one thread each, as there is a worker per core.

One thread needs only one arena of the C library's allocator, and one arena returns more freed memory than several.
"""

PRELOADED = [
    "resources.engine.preloaded",
    "numpy",
    "msgspec",
    "isal.igzip",
    "zstandard",
    "xxhash",
    "resources.stage.jobs.run_job",
]
"""Modules that every worker needs; an engine may load them before it starts workers, which then share their memory."""


class Queue(Iterator[Job]):
    """The jobs that can start now. An empty queue may be asked again later.

    take: returns a job, or None if there is none for now. pause: returns the seconds after which there may be a job
    even if no running job has ended; None if there will not be.
    """

    def __init__(self, take: Callable[[], Job | None], pause: Callable[[], float | None]) -> None:
        self._take = take
        self.pause = pause

    @override
    def __next__(self) -> Job:
        job = self._take()
        if job is None:
            raise StopIteration
        return job


def pause_of(jobs: Iterator[Job]) -> float | None:
    """Returns the seconds after which an engine with room asks for jobs again; None if it waits for outcomes alone."""
    return jobs.pause() if isinstance(jobs, Queue) else None


class Engine(Protocol):
    """Runs jobs somewhere. What they write depends only on the jobs.

    workers: how many jobs run at the same time. workers_per_machine: how many of them share a machine's memory.
    own_memory: bytes that each takes before it holds data. whole_alone: whether a partition of the whole corpus, which
    gets all the memory of a machine, leaves no room for others.
    """

    workers: int
    workers_per_machine: int
    own_memory: int = OWN_MEMORY
    whole_alone: bool = True

    def prepare(self, modules: Sequence[str] = ()) -> None:  # noqa: ARG002
        """Begins what takes time before the first job, without waiting for it. Called only if there will be jobs.

        modules: those that jobs need, which workers may load ahead.
        """
        return

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yields one outcome per job, in order of completion.

        Takes jobs as they are needed, never all at once. After a `Queue` returns nothing, an engine with room asks
        again after `pause` seconds.
        """

    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order. An engine may use idle workers for that."""
        return map(function, items)

    def close(self) -> None:
        """Stops the workers."""
