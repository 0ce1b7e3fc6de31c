"""The engine on this machine: a few long-lived processes."""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from multiprocessing.util import Finalize
from typing import Any

from typing_extensions import override

from resources.engine.interface import Engine, R, T, pause_of
from resources.engine.pace import IN_HAND, Pace
from resources.engine.time_limit import too_long, within
from resources.engine.workers import Worker, WorkerDiedError, new_pipe, prepare, ready
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job


class LocalEngine(Engine):
    """Processes on this machine. With `workers=0` jobs run in the calling process (for debugging).

    job_timeout: seconds that a job may take in a worker.
    """

    def __init__(
        self, workers: int, work: Callable[[Job], Outcome] = run_job, job_timeout: float | None = None
    ) -> None:
        self.workers = workers
        self.workers_per_machine = max(1, workers)
        self._job_timeout = job_timeout
        self._work = within(job_timeout, work) if job_timeout and workers else work
        self._pool: list[Worker] = []
        self._alone: Worker | None = None
        self._at_exit: Finalize | None = None
        self._pace = Pace()
        # A worker that was interrupted says so: that is no fault of its job, so nothing is run again.
        self._interrupts, self._interrupted = new_pipe()

    @override
    def prepare(self, modules: Sequence[str] = ()) -> None:
        if self.workers:
            prepare(modules)

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yields one outcome per job. A worker that dies fails only its own job: the engine runs the others again."""
        if self.workers == 0:
            yield from map(self._work, jobs)
            return
        queue = iter(jobs)
        try:
            while suspects := (yield from self._pooled(queue)):
                yield from self._one_by_one(suspects)
        except (Exception, GeneratorExit):
            raise
        except BaseException:  # Ctrl-C, or what Dagster makes of it: nobody waits for what the workers are doing.
            for worker in self._workers():
                worker.kill()
            raise

    def _pooled(self, queue: Iterator[Job]) -> Generator[Outcome, None, list[Job]]:
        """Yields outcomes until all jobs are done or, once a worker has died, until all started jobs are done.

        Returns the jobs that the dead worker held, since it is not known which one it was doing.
        """
        suspects: list[Job] = []
        self._feed(queue)
        while busy := [worker for worker in self._pool if worker.held]:
            told = ready(busy, None if suspects or not self._has_room else pause_of(queue))
            if not told:
                self._feed(queue)
            for worker in told:
                try:
                    answers = worker.answers()
                except WorkerDiedError:
                    suspects += self._bury(worker)
                    continue
                for job, outcome, error, seconds in answers:
                    self._pace.note(job, seconds)
                    if error is not None:
                        raise error
                    yield outcome
                if not suspects:
                    self._feed(queue)
        return suspects

    def _bury(self, worker: Worker) -> list[Job]:
        """Returns the jobs that a dead worker held."""
        self._pool.remove(worker)
        worker.stop()
        self._require_no_interrupt()
        return [job for job, _ in worker.held]

    def _feed(self, queue: Iterator[Job]) -> None:
        """Gives jobs to workers that will soon be done, each to the worker that will be done first."""
        given: dict[Worker, list[tuple[Job, float]]] = {}
        load = {worker: worker.load for worker in self._pool}
        hungry = {worker for worker in self._pool if _is_hungry(worker)}
        while (hungry or len(self._pool) < self.workers) and (job := next(queue, None)) is not None:
            if not any(not load[worker] for worker in hungry) and len(self._pool) < self.workers:
                self._pool.append(self._new_worker())
                load[self._pool[-1]] = 0.0
                hungry.add(self._pool[-1])
            worker = min(hungry, key=load.__getitem__)
            seconds = self._pace.expected(job)
            given.setdefault(worker, []).append((job, seconds))
            load[worker] += seconds
            if load[worker] >= IN_HAND:
                hungry.discard(worker)
        for worker, batch in given.items():
            worker.give(self._work, [job for job, _ in batch], [seconds for _, seconds in batch])

    @property
    def _has_room(self) -> bool:
        return len(self._pool) < self.workers or any(map(_is_hungry, self._pool))

    def _new_worker(self) -> Worker:
        # Else Python would wait for a worker that waits for jobs: before `atexit`, where this process is itself one of
        # `multiprocessing`, such as a run in Dagster's code server.
        self._at_exit = self._at_exit or Finalize(None, self.close, exitpriority=0)
        return Worker(self._interrupted)

    def _one_by_one(self, suspects: Iterable[Job]) -> Iterator[Outcome]:
        """Yields the outcomes of jobs that run one at a time in a process: its death then has one cause."""
        for job in suspects:
            worker = self._alone = self._alone or self._new_worker()
            started = time.monotonic()
            worker.give(self._work, [job], [0.0])
            try:
                [answer] = worker.answers()
            except WorkerDiedError:
                how, self._alone = worker.end(), None
                self._require_no_interrupt()
                yield self._death(job, time.monotonic() - started, how)
                continue
            if answer.error is not None:
                raise answer.error
            yield answer.result
        self._end_alone()

    def _end_alone(self) -> None:
        worker, self._alone = self._alone, None
        if worker is not None:
            worker.stop()

    def _death(self, job: Job, seconds: float, how: str) -> Outcome:
        """Returns the outcome of a job that ended its worker after some seconds. how: the end of that, in words."""
        limit = self._job_timeout
        died = f"{job.name}: the worker process {how}"
        problem = too_long(limit) if limit is not None and seconds > limit else died
        return Outcome(job.name, job.stage.name, job.partition, error=problem)

    @override
    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order.

        Idle workers compute them if there are any, else this process. If a worker dies of an item, this process
        continues with that item.
        """
        given = list(items)
        done = 0
        idle = [worker for worker in self._pool if not worker.held]
        try:
            for found in _shared(idle, function, given):
                yield found
                done += 1
        except WorkerDiedError:
            self._require_no_interrupt()
        finally:
            for worker in [worker for worker in idle if worker.held]:
                self._pool.remove(worker)
                worker.stop()
        yield from map(function, given[done:])

    def _require_no_interrupt(self) -> None:
        if self._interrupts.poll():
            raise KeyboardInterrupt

    def _workers(self) -> list[Worker]:
        return [*self._pool, *([self._alone] if self._alone else [])]

    @override
    def close(self) -> None:
        workers, self._pool, self._alone = self._workers(), [], None
        for worker in workers:
            worker.stop()
        if self._at_exit is not None:
            self._at_exit.cancel()
            self._at_exit = None


def _is_hungry(worker: Worker) -> bool:
    # A worker that is silent for longer than its jobs should take is at a long job.
    return worker.load <= IN_HAND / 2 and worker.silent <= IN_HAND


def _shared(workers: list[Worker], function: Callable[[T], R], items: list[T]) -> Iterator[R]:
    """Yields the results of workers for items, in order; nothing if there are no workers.

    Raises what the function raises.
    """
    waiting = deque(enumerate(items)) if workers else deque()
    places = {worker: deque[int]() for worker in workers}
    found: dict[int, R] = {}
    turn = 0
    while waiting or any(places.values()):
        for worker in workers:
            while waiting and len(worker.held) < 2:
                place, item = waiting.popleft()
                places[worker].append(place)
                worker.give(function, [item], [0.0])
        for worker in ready([worker for worker in workers if worker.held]):
            for answer in worker.answers():
                if answer.error is not None:
                    raise answer.error
                found[places[worker].popleft()] = answer.result
        while turn in found:
            yield found.pop(turn)
            turn += 1


def open_local(section: Mapping[str, Any]) -> LocalEngine:
    """Returns the engine of `engine.kind: local`."""
    workers = section["workers"]
    return LocalEngine(_cores() if workers == "auto" else workers, job_timeout=section.get("job_timeout"))


def _cores() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
