"""Maps a function over partitions. `local` is a pool of long-lived processes; Ray fits the same interface."""

import contextlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for
from typing import Protocol

from resources.execute import Job, Outcome, run_job

_PRELOAD = ["numpy", "msgspec", "isal.igzip", "zstandard", "xxhash", "resources.execute"]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "ARROW_NUM_THREADS")
_AHEAD = 2


class Engine(Protocol):
    """Runs jobs somewhere. The outcomes come as they finish; their content depends on nothing but the jobs."""

    workers: int

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """One outcome per job, in order of completion."""

    def close(self) -> None:
        """Let the workers go."""


class LocalEngine:
    """Processes on this machine. With `workers=0` jobs run in the calling process (for debugging)."""

    def __init__(self, workers: int, work: Callable[[Job], Outcome] = run_job) -> None:
        self.workers = workers
        self._work = work
        self._pool: ProcessPoolExecutor | None = None

    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """See `Engine.run`. A worker that dies fails its own job only: the others in flight are run again."""
        if self.workers == 0:
            yield from map(self._work, jobs)
            return
        suspects: list[Job] = []
        waiting: dict[Future[Outcome], Job] = {}
        queue = iter(jobs)
        while True:
            self._submit(queue, waiting)
            if not waiting:
                break
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                job = waiting.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    suspects.append(job)
            if suspects:
                suspects += waiting.values()
                waiting.clear()
                self.close()
                yield from self._one_by_one(suspects)
                suspects = []

    def _submit(self, queue: Iterator[Job], waiting: dict[Future[Outcome], Job]) -> None:
        """Keep a few jobs ready per worker, so that a long list is never held in the pool's queue."""
        while len(waiting) < self.workers * _AHEAD:
            job = next(queue, None)
            if job is None:
                return
            if self._pool is None:
                self._pool = _pool(self.workers)
            waiting[self._pool.submit(self._work, job)] = job

    def _one_by_one(self, suspects: list[Job]) -> Iterator[Outcome]:
        for job in suspects:
            with _pool(1) as pool:
                try:
                    yield pool.submit(self._work, job).result()
                except BrokenProcessPool:
                    problem = f"{job.name}: the worker process died (killed, or out of memory)"
                    yield Outcome(job.name, job.stage.name, job.partition, error=problem)

    def close(self) -> None:
        """See `Engine.close`."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOAD)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """One thread per worker, and no worker without its parent: a killed run leaves nothing behind."""
    for name in _THREADS:
        os.environ[name] = "1"
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    with contextlib.suppress(OSError):
        wait_for([sentinel])
    os._exit(1)
