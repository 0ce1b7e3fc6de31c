"""The engine on a Ray cluster: batches of jobs as tasks, each with a core and its share of a machine's memory.

Ray places tasks, starts processes and finds lost machines. This module decides what is in a task and what is retried.
"""

import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import override

from resources.engine.interface import PRELOADED, Engine, R, T, pause_of
from resources.engine.memory import RAY_OWN_MEMORY, most_of
from resources.engine.pace import IN_HAND, Pace
from resources.engine.ray_calls import cancel, death_errors, in_words, lost_errors, remote
from resources.engine.ray_cluster import Machine, connect, disconnect, load_ray, machines, on_machine
from resources.engine.ray_task import Answer, Ground, ground_of, serve, warm_up
from resources.engine.time_limit import too_long, within
from resources.errors import ConfigError, EngineError
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from resources.storage.interface import Storage

RETRIES = 3
_GRACE = 10.0  # Seconds that cancelled tasks get to remove what they began.
_LONGEST_PROOF = 180.0  # A busy machine takes a minute to start the first worker.
_NEWS_OF_MACHINES = 0.5
_LOOK_EVERY = 30.0  # Seconds without an answer after which the machines are looked at.


@dataclass(frozen=True)
class _Flight:
    """A task that Ray was given.

    memory: bytes that it asks of a machine. lost: how many machines were lost while they ran it. alone: it holds a
    single job, from a task whose process died. apart: nothing else runs meanwhile; if the process dies again, that job
    is the cause.
    """

    jobs: Sequence[Job]
    memory: int = 0
    since: float = 0.0
    lost: int = 0
    alone: bool = False
    apart: bool = False


class RayEngine(Engine):
    """Tasks on a Ray cluster, which this process is connected to until `close`.

    address: as `ray_cluster.connect` takes it.
    workers: tasks at the same time; None for one per core.
    memory: bytes of each machine for the workers on it.
    job_timeout: seconds that a job may take.
    retries: how often a task whose machine was lost is started again.

    `ConfigError` if there is no such cluster, or if none of its machines has the memory.
    """

    own_memory = RAY_OWN_MEMORY

    def __init__(
        self,
        address: str,
        workers: int | None,
        memory: int,
        *,
        work: Callable[[Job], Outcome] = run_job,
        job_timeout: float | None = None,
        retries: int = RETRIES,
    ) -> None:
        self._address = address
        self._ours = connect(address)
        try:
            found = machines()
            self.workers_per_machine = _sharing(found, most_of(memory, 1, self.own_memory), workers)
        except BaseException:
            if self._ours:
                disconnect()
            raise
        room = sum(min(one.cores, one.memory * self.workers_per_machine // memory) for one in found)
        self.whole_alone = sum(one.cores > 0 for one in found) < 2  # Else Ray finds room on other machines.
        self.workers = workers or room
        # If all room is ours, some tasks wait at the cluster for the next free core.
        self._most = self.workers if self.workers < room else 2 * self.workers
        self._grows = workers is not None
        self._job_timeout = job_timeout
        self._work = within(job_timeout, work) if job_timeout else work
        self._retries = retries
        self._pace = Pace()
        self._grounds: dict[Storage, Ground] = {}
        self._flights: dict[Any, _Flight] = {}
        self._again: deque[_Flight] = deque()
        self._suspects: deque[_Flight] = deque()
        self._left: deque[Job] = deque()
        self._heard = time.monotonic()

    @override
    def prepare(self, modules: Sequence[str] = ()) -> None:
        for _ in range(self.workers):
            remote(warm_up, 0).remote([*PRELOADED, *modules])

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yields one outcome per job. `EngineError` if a machine has different code or cannot see the store."""
        queue = iter(jobs)
        self._ours = connect(self._address) or self._ours
        self._grounds = {}
        self._heard = time.monotonic()
        try:
            while self._launch(queue):
                yield from self._landed(queue)
        finally:
            self._cancel()

    def _launch(self, queue: Iterator[Job]) -> bool:
        """Gives Ray as many tasks as `workers` allows; returns whether any are running."""
        if any(flight.apart for flight in self._flights.values()):
            return True
        while self._again and len(self._flights) < self.workers:
            self._give(self._again.popleft())
        free = self._most - len(self._flights)
        for batch in self._pace.batches(iter(lambda: self._next(queue), None), free):
            self._give(_Flight(batch))
        if self._suspects and not self._flights:
            self._give(self._suspects.popleft())
        return bool(self._flights)

    def _next(self, queue: Iterator[Job]) -> Job | None:
        return self._left.popleft() if self._left else next(queue, None)

    def _give(self, flight: _Flight) -> None:
        memory = max(job.memory for job in flight.jobs) + self.own_memory
        payload = pickle.dumps((self._work, flight.jobs))
        ground = self._ground(flight.jobs[0].storage)
        reference = remote(serve, memory).remote(ground, payload, IN_HAND)
        self._flights[reference] = replace(flight, memory=memory, since=time.monotonic())

    def _ground(self, store: Storage) -> Ground:
        if store not in self._grounds:
            self._grounds[store] = ground_of(store)
        return self._grounds[store]

    def _landed(self, queue: Iterator[Job]) -> Iterator[Outcome]:
        """Waits for tasks; yields the outcomes of those that are done, or nothing when more jobs may be ready."""
        ray = load_ray()
        pause = pause_of(queue) if len(self._flights) < self._most else None
        limit = _LOOK_EVERY if pause is None else min(pause, _LOOK_EVERY)
        if not ray.wait(list(self._flights), num_returns=1, timeout=limit)[0]:
            self._look()
            return
        self._heard = time.monotonic()
        for reference in ray.wait(list(self._flights), num_returns=len(self._flights), timeout=0)[0]:
            yield from self._outcomes(reference)

    def _outcomes(self, reference: Any) -> Iterator[Outcome]:
        """Yields the outcomes of a task that is done."""
        ray = load_ray()
        flight = self._flights.pop(reference)
        try:
            answer = ray.get(reference)
        except lost_errors():
            yield from self._lost(flight)
        except death_errors():
            yield from self._died(flight)
        except ray.exceptions.RayError as error:
            raise EngineError(f"a task failed on the Ray cluster: {in_words(error)}") from None
        else:
            yield from self._answered(flight, answer)

    def _look(self) -> None:
        """Looks at the machines if no task has answered for long."""
        if time.monotonic() - self._heard >= _LOOK_EVERY:
            self._heard = time.monotonic()
            self._require_room()

    def _require_room(self) -> None:
        """Raises `EngineError` if no remaining machine offers the memory of any task, since Ray would wait for ever.

        If `engine.workers` is configured, the cluster may still grow, so nothing is raised.
        """
        least = min(flight.memory for flight in self._flights.values())
        most = max((machine.memory for machine in machines()), default=0)
        if most < least and not self._grows:
            raise EngineError(
                f"no machine of the Ray cluster gives out {least:,} bytes of memory any more, the largest has "
                f"{most:,}; were machines lost? What is done is kept"
            )

    def _answered(self, flight: _Flight, answer: Answer) -> Iterator[Outcome]:
        if answer.refused is not None:
            raise EngineError(answer.refused)
        self._left.extend(flight.jobs[len(answer.done) :])
        for job, done in zip(flight.jobs, answer.done, strict=False):
            self._pace.note(job, done.seconds)
            if done.error is not None:
                raise done.error
            yield done.result

    def _lost(self, flight: _Flight) -> Iterator[Outcome]:
        """Starts a task again whose machine was lost, unless that happened too often."""
        if flight.lost < self._retries:
            given = self._suspects if flight.apart else self._again
            given.append(replace(flight, lost=flight.lost + 1))
            return
        for job in flight.jobs:
            times = f"{flight.lost + 1} machines were lost that computed it"
            yield _failed(job, f"{job.name}: {times}; engine.retries is {self._retries}")

    def _died(self, flight: _Flight) -> Iterator[Outcome]:
        """Runs the jobs of a worker that died one by one, which usually shows which job is the cause.

        If memory ran out, a process may have died because of another one. So a job that kills its worker is run last,
        while nothing else runs; it has failed if it kills its worker then too.
        """
        if not flight.alone:
            self._again.extend(_Flight([job], alone=True) for job in flight.jobs)
            return
        if not flight.apart:
            self._suspects.append(replace(flight, apart=True))
            return
        [job] = flight.jobs
        limit = self._job_timeout  # The task got its core at once, so nothing else was running.
        if limit is not None and time.monotonic() - flight.since > limit:
            yield _failed(job, too_long(limit))
        else:
            yield _failed(job, f"{job.name}: the worker process died (killed, or out of memory)")

    @override
    def spread(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Yields the result of a function for each item, in order.

        The cluster computes them if it has done jobs before. If a worker or a machine is lost, or no machine has room,
        this process computes the rest.
        """
        ground = next(iter(self._grounds.values()), None)
        if ground is None or not load_ray().is_initialized():
            yield from map(function, items)
            return
        given: deque[tuple[T, Any]] = deque()
        for item in items:
            payload = pickle.dumps((function, [item]))
            given.append((item, remote(serve, self.own_memory).remote(ground, payload, 0.0)))
            if len(given) > self.workers:
                yield self._spread(function, *given.popleft())
        while given:
            yield self._spread(function, *given.popleft())

    def _spread(self, function: Callable[[T], R], item: T, reference: Any) -> R:
        while not load_ray().wait([reference], timeout=_LOOK_EVERY)[0]:
            if not any(machine.memory >= self.own_memory for machine in machines()):  # Ray would wait for ever.
                cancel([reference], _GRACE)
                return function(item)
        try:
            answer: Answer = load_ray().get(reference)
        except (*lost_errors(), *death_errors()):
            return function(item)
        if answer.refused is not None:
            raise EngineError(answer.refused)
        [done] = answer.done
        if done.error is not None:
            raise done.error
        found: R = done.result
        return found

    def unfit(self, store: Storage) -> list[str]:
        """Returns in words why machines cannot work on a store: every worker checks it before its first job.

        `EngineError` if one of them does not answer.
        """
        ground, payload = ground_of(store), pickle.dumps((str, []))
        exceptions = load_ray().exceptions
        until = time.monotonic() + _LONGEST_PROOF
        while True:
            places = [{"num_cpus": 0, "scheduling_strategy": on_machine(machine)} for machine in machines()]
            given = [remote(serve, 0, **place).remote(ground, payload, 0.0) for place in places]
            try:
                answers: list[Answer] = load_ray().get(given, timeout=_LONGEST_PROOF)
                break
            except exceptions.RayError as error:
                # For a moment Ray may list a machine that has just come or gone, and yet know no way to it.
                if isinstance(error, exceptions.TaskUnschedulableError) and time.monotonic() < until:
                    time.sleep(_NEWS_OF_MACHINES)
                    continue
                raise EngineError(f"a machine of the Ray cluster does not answer: {in_words(error)}") from None
        return [answer.refused for answer in answers if answer.refused is not None]

    def _cancel(self) -> None:
        """Ends the running tasks, and forgets the queued ones."""
        flights, self._flights = list(self._flights), {}
        self._again.clear()
        self._suspects.clear()
        self._left.clear()
        if flights:
            cancel(flights, _GRACE)

    @override
    def close(self) -> None:
        self._cancel()
        if self._ours:
            self._ours = False
            disconnect()


def _sharing(found: Sequence[Machine], memory: int, workers: int | None) -> int:
    """Returns how many workers share the memory of a machine.

    That is the number of cores of the largest machine that has that much memory. A cluster that grows with its work may
    have no machine yet. `ConfigError` if no machine has the memory, or if there is none to count.
    """
    cores = [machine.cores for machine in found if machine.memory >= memory]
    if found and not cores:
        most = max(machine.memory for machine in found)
        raise ConfigError(
            f"engine.memory: {memory:,} bytes are needed, but no machine of the Ray cluster gives out more than "
            f"{most:,}; lower it, or start Ray with a larger --memory"
        )
    if not cores and not workers:
        raise ConfigError("engine.workers: the Ray cluster has no cores now; valid: a number of workers to wait for")
    return min(count for count in (workers, max(cores, default=workers)) if count)


def _failed(job: Job, why: str) -> Outcome:
    return Outcome(job.name, job.stage.name, job.partition, error=why)


def open_ray(section: Mapping[str, Any]) -> RayEngine:
    """Returns the engine of `engine.kind: ray`."""
    workers = None if section["workers"] == "auto" else section["workers"]
    timeout, retries = section.get("job_timeout"), section["retries"]
    return RayEngine(section["address"], workers, section["memory"], job_timeout=timeout, retries=retries)
