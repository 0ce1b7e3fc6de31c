"""How long jobs take, and how many of them make a batch: engines give small jobs out together."""

from collections.abc import Iterator
from heapq import heappop, heappush

from resources.stage.jobs.job import Job

IN_HAND = 0.25
"""Seconds of work that a worker is given ahead: jobs of milliseconds in batches, longer ones one by one."""

_WEIGHT = 0.2  # Weight of the newest job in the time that a job of its stage is expected to take.
_LEAST = 0.001  # Fewest seconds that a job counts, so that a batch is never the whole queue.


class Pace:
    """The seconds that a job of each stage is expected to take, from those that were done."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def expected(self, job: Job) -> float:
        """Returns the seconds that a job should take; the first one of its stage may be long, and is given alone."""
        return self._seconds.get(job.stage.name, IN_HAND)

    def note(self, job: Job, seconds: float) -> None:
        """Notes the seconds that a job took."""
        known = self._seconds.get(job.stage.name, seconds)
        self._seconds[job.stage.name] = known + _WEIGHT * (seconds - known)

    def batches(self, queue: Iterator[Job], most: int) -> list[list[Job]]:
        """Takes jobs for at most so many batches of about `IN_HAND` seconds each; a job goes to the smallest batch."""
        given: list[list[Job]] = []
        hungry = [(0.0, place) for place in range(most)]
        while hungry and (job := next(queue, None)) is not None:
            load, place = heappop(hungry)
            if place == len(given):
                given.append([])
            given[place].append(job)
            load += max(_LEAST, self.expected(job))
            if load < IN_HAND:
                heappush(hungry, (load, place))
        return given
