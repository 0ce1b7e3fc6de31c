"""A cluster that is not there: an engine with a clock of its own, on which machines are lost and the store falters.

The build is the real one: its planner, its order of jobs, leases, recipes and commit records. Only the content of a
partition is not computed: a digest of its recipe stands for it, and a cost takes its time.
"""

import heapq
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from typing_extensions import override

from corpus_assets.dedup.shared import LOSSES
from resources.engine.interface import Engine
from resources.engine.ray import RETRIES
from resources.formats.attributes import FLAGS
from resources.formats.row_tables import NAMES, SIGNATURES, SKETCH, TEXTS
from resources.hashing import content_digest, value_digest
from resources.stage.declaration import Partitioning
from resources.stage.graph import Graph
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.run_job import run_job
from resources.stage.settings import Settings
from resources.stage.task import Task

HOUR, DAY = 3_600.0, 86_400.0
_COMMITS = 1.0
"""Seconds between the commit of a partition and the moment when the driver knows of it."""


@dataclass(frozen=True)
class Faults:
    """What goes wrong on the cluster.

    lost_a_day: the share of machines that are lost on a day. away: seconds until another takes the place of a lost one.
    slow: the share of machines with a slow disk. slower: how many times as long they take.
    refused: the share of requests that the store answers with 503. storm: the same during a storm, which lasts so many
    seconds of each hour. tries: how often a request is made at most. request: bytes that one moves.
    """

    lost_a_day: float = 0.01
    away: float = 600.0
    slow: float = 0.02
    slower: float = 5.0
    refused: float = 0.001
    storm: float = 0.1
    storm_seconds: float = 120.0
    tries: int = 5
    request: float = 8e6

    @classmethod
    def none(cls) -> "Faults":
        """A cluster on which nothing goes wrong."""
        return cls(lost_a_day=0.0, slow=0.0, refused=0.0, storm=0.0)

    def refused_between(self, begin: float, end: float) -> float:
        """Returns the share of requests that are refused, of those made evenly from one time to another."""
        stormy = (self._stormy(end) - self._stormy(begin)) / max(end - begin, 1e-9)
        return stormy * self.storm + (1 - stormy) * self.refused

    def _stormy(self, until: float) -> float:
        hours, seconds = divmod(until, HOUR)
        return hours * self.storm_seconds + min(seconds, self.storm_seconds)


@dataclass
class Spent:
    """CPU seconds of the cluster, and what they were spent for.

    once: on partitions that were committed. lost: on attempts that committed nothing. again: on partitions of which a
    record of the same recipe existed before.
    """

    once: float = 0.0
    lost: float = 0.0
    again: float = 0.0
    partitions: int = 0
    machines_lost: int = 0
    refused: int = 0
    failed: int = 0
    found_committed: int = 0

    def add(self, other: Mapping[str, float]) -> None:
        """Adds what another build spent."""
        for name, value in other.items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def share_twice(self) -> float:
        """The share of all CPU seconds that were spent on what was lost or existed already."""
        return (self.lost + self.again) / max(self.once + self.lost + self.again, 1e-9)


@dataclass
class _Run:
    """A job under way. number: which attempt. fails: the reason for which it will fail, if it will."""

    job: Job
    number: int
    machine: int = -1
    began: float = 0.0
    ends: float = 0.0
    fails: str = ""


@dataclass
class Cluster:
    """Machines with cores, and their clock. killed_at: when the machine of the driver is lost, if it is.

    seconds: of a partition, by stage. moved: bytes that it moves, by stage. segments: names
    of those that it has, by stage. dispatch: seconds of the driver per job.
    known: recipes that were committed before.
    """

    machines: int
    cores: int
    seconds: Mapping[str, float]
    moved: Mapping[str, float]
    segments: Mapping[str, Sequence[str]]
    dispatch: float
    faults: Faults
    seed: str
    now: float = 0.0
    killed_at: float = math.inf
    known: set[bytes] = field(default_factory=set)
    spent: Spent = field(default_factory=Spent)

    def chance(self, *what: object) -> Generator:
        """Random numbers that belong to one event: they depend on nothing but its name."""
        name = "\0".join(map(str, (self.seed, *what)))
        return np.random.default_rng(int(content_digest(name.encode()), 16))

    def told(self) -> dict[str, Any]:
        """The clock and what was spent, as JSON."""
        return {"now": self.now, "spent": asdict(self.spent)}


class DriverLostError(BaseException):
    """The machine of the driver is lost: its process must end at once, and clean up nothing."""


class SimulatedEngine(Engine):
    """Runs jobs on a cluster that is not there."""

    whole_alone = False

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.workers = cluster.machines * cluster.cores
        self.workers_per_machine = cluster.cores
        slots = [machine for _ in range(cluster.cores) for machine in range(cluster.machines)]
        self._free = deque(slots)
        self._running: dict[int, _Run] = {}
        self._events: list[tuple[float, int, str, int]] = []
        self._again: deque[_Run] = deque()
        self._events_made = 0
        self._driver = cluster.now
        slow = cluster.chance("slow").random(cluster.machines) < cluster.faults.slow
        self._slower = np.where(slow, cluster.faults.slower, 1.0)
        self._losses = [0] * cluster.machines
        for machine in range(cluster.machines):
            self._foresee_loss(machine)

    @override
    def run(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Yields outcomes in the order of the clock."""
        queue = iter(jobs)
        while True:
            self._feed(queue)
            if not self._running:
                return
            at, _, what, which = heapq.heappop(self._events)
            if at >= self.cluster.killed_at:
                self._lose_driver()
            self.cluster.now = max(self.cluster.now, at)
            if what == "done" and which in self._running:
                yield self._ended(self._running.pop(which))
            elif what == "lost":
                yield from self._lose(which)
            elif what == "back":
                self._free.extend([which] * self.cluster.cores)
                self._foresee_loss(which)

    @override
    def close(self) -> None:
        """Stops nothing: no process runs a job."""
        return

    def _feed(self, queue: Iterator[Job]) -> None:
        while self._free:
            run = self._again.popleft() if self._again else None
            if run is None:
                job = next(queue, None)
                if job is None:
                    return
                run = _Run(job, 0)
            self._start(run)

    def _start(self, run: _Run) -> None:
        cluster, stage = self.cluster, run.job.stage.name
        self._driver = max(self._driver, cluster.now) + cluster.dispatch
        run.machine, run.began = self._free.popleft(), self._driver
        chance = cluster.chance("job", run.job.name, run.number)
        work = cluster.seconds[stage] * self._slower[run.machine] * math.exp(0.2 * chance.standard_normal())
        share = cluster.faults.refused_between(run.began, run.began + work)
        waited, run.fails = self._requests(stage, share, chance)
        run.ends = run.began + work + waited
        self._at(run.ends, "done", self._events_made)
        self._running[self._events_made - 1] = run

    def _requests(self, stage: str, share: float, chance: Generator) -> tuple[float, str]:
        """Returns the seconds for which a job waits for a store that refuses requests, and why it fails, if it does."""
        faults = self.cluster.faults
        asked, waited = 2 + int(self.cluster.moved.get(stage, 0.0) / faults.request), 0.0
        for attempt in range(faults.tries):
            asked = int(chance.binomial(asked, share))
            if not asked:
                return waited, ""
            self.cluster.spent.refused += asked
            waited += asked * chance.random() * 2**attempt
        return waited, f"the store answered 503 to {faults.tries} tries of a request"

    def _ended(self, run: _Run) -> Outcome:
        self._free.append(run.machine)
        spent, seconds = self.cluster.spent, run.ends - run.began
        if run.fails:
            spent.lost += seconds
            spent.failed += 1
            return Outcome(run.job.name, run.job.stage.name, run.job.partition, error=f"{run.job.name}: {run.fails}")
        return self._committed(run, seconds)

    def _committed(self, run: _Run, seconds: float) -> Outcome:
        outcome, spent = run_job(simulated(run.job, self.cluster.segments[run.job.stage.name])), self.cluster.spent
        if outcome.elsewhere:  # It was committed by an attempt whose machine was lost before the driver knew.
            spent.found_committed += 1
            return outcome
        if outcome.record is None:
            raise SystemExit(f"a simulated partition failed: {outcome.error}")
        recipe = bytes.fromhex(content_digest(f"{run.job.name} {outcome.record.recipe}".encode()))[:8]
        if recipe in self.cluster.known:
            spent.again += seconds
        else:
            spent.once += seconds
        self.cluster.known.add(recipe)
        spent.partitions += 1
        return outcome

    def _lose(self, machine: int) -> Iterator[Outcome]:
        """Loses a machine with all that runs on it, and has another in its place later."""
        cluster = self.cluster
        cluster.spent.machines_lost += 1
        self._free = deque(one for one in self._free if one != machine)
        self._at(cluster.now + cluster.faults.away, "back", machine)
        for number, run in [(number, run) for number, run in self._running.items() if run.machine == machine]:
            del self._running[number]
            if run.ends - cluster.now < _COMMITS and not run.fails:
                self._committed(run, run.ends - run.began)
            else:
                cluster.spent.lost += max(0.0, cluster.now - run.began)
            if run.number >= RETRIES:
                cluster.spent.failed += 1
                words = f"{run.job.name}: {run.number + 1} machines were lost that computed it"
                yield Outcome(run.job.name, run.job.stage.name, run.job.partition, error=words)
            else:
                self._again.append(_Run(run.job, run.number + 1))

    def _lose_driver(self) -> None:
        cluster = self.cluster
        cluster.now = cluster.killed_at
        cluster.spent.lost += sum(max(0.0, cluster.now - run.began) for run in self._running.values())
        raise DriverLostError

    def _foresee_loss(self, machine: int) -> None:
        faults = self.cluster.faults
        if faults.lost_a_day:
            self._losses[machine] += 1
            chance = self.cluster.chance("loss", machine, self._losses[machine], int(self.cluster.now))
            self._at(self.cluster.now + chance.exponential(DAY / faults.lost_a_day), "lost", machine)

    def _at(self, when: float, what: str, which: int) -> None:
        heapq.heappush(self._events, (when, self._events_made, what, which))
        self._events_made += 1


def simulated(job: Job, segments: Sequence[str]) -> Job:
    """The job with a function that computes nothing: the digest of the recipe stands for the content."""
    return replace(job, stage=replace(job.stage, compute=partial(_pretend, job, segments)))


def _pretend(job: Job, segments: Sequence[str], task: Task) -> Mapping[str, str] | None:
    read = job.stage.compute(task) if job.stage.looks_outside else None
    made = value_digest(read) if read else task.recipe
    task.segments |= {name: content_digest(f"{made} {name}".encode()) for name in ["content", *segments]}
    if job.stage.name == "components":
        task.save_counters(LOSSES, {"sources": {}, "unexamined_clusters": 0})
    task.count(rows_in=1, rows_out=1, documents=1, page="")
    return read


_OF_RANGES = ("duplicate_pairs", "candidate_pairs", "cluster_roots", "cluster_members")
"""Stages of other partitions that have a segment for each range."""


def segments_of(settings: Settings, graph: Graph) -> dict[str, list[str]]:
    """The segments that partitions of each stage have."""
    found = {}
    for stage in graph:
        keys = [*settings.bands(), *settings.ranges()] if stage.name == "band_keys" else settings.chunks()
        whole = [*keys, TEXTS, NAMES, FLAGS, SIGNATURES, SKETCH] if stage.partitioning is Partitioning.SHARD else []
        found[stage.name] = settings.ranges() if stage.name in _OF_RANGES else whole
    return found
