"""An engine of one's own: threads of the calling process."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from resources import Engine, Job, Outcome, run_job


class Threads(Engine):
    """Runs as many jobs at once as the section's options say."""

    def __init__(self, threads: int) -> None:
        self.workers = self.workers_per_machine = threads

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Run the jobs batch by batch."""
        queue = iter(jobs)
        with ThreadPoolExecutor(self.workers) as pool:
            while batch := list(islice(queue, self.workers)):
                yield from pool.map(run_job, batch)

    def close(self) -> None:
        """Nothing stays."""


def open_threads(section: Mapping[str, Any]) -> Threads:
    """The engine that `engine.kind: my_engine:open_threads` stands for."""
    return Threads(section["options"]["threads"])
