"""The work of a build: what is done, what is left, and how long that takes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from corpus_assets.numbers import duration, size
from corpus_assets.orchestration.building.forecasting.forecast import ALL, READ, Costs, Texts, speed_of
from corpus_assets.raw.losses import NOT_SAMPLED
from resources.ledger.records import Record
from resources.planning.planner import Planner, Status
from resources.shards.listing import Shard
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome

START, END = 3.0, 2.0
"""Seconds until workers have started, and of what follows the last stage, such as checks."""

BETWEEN: Final = 0.2
SURE: Final = 4
"""Seconds for which workers wait at a stage, and as how many measured stages that counts."""

CLEAR: Final = 0.8
"""From which part on the least that is left is told as the most."""


@dataclass
class StageWork:
    """The work of one stage.

    due: partitions to compute. costs: what they cost.
    moves: reasons of rows that went elsewhere, which are not dropped (`Stage.moves`).
    not_sampled: rows that are left out because the corpus is a sample; they are not among those that came in.
    """

    costs: Costs
    due: int = 0
    moves: Container[str] = ()
    done: int = 0
    failed: int = 0
    rows_in: int = 0
    rows_out: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    not_sampled: int = 0

    @property
    def seconds(self) -> float:
        """The seconds of work of partitions that are done."""
        return self.costs.seconds

    def add(self, record: Record) -> None:
        """Counts the rows of a partition that is done."""
        numbers = record.statistics
        self.done += 1
        self.rows_out += numbers.get("rows_out") or 0
        if dropped := numbers.get("dropped"):
            self.dropped.update({reason: rows for reason, rows in dropped.items() if reason not in self.moves})
        left_out = self.dropped.pop(NOT_SAMPLED, 0)
        self.not_sampled += left_out
        self.rows_in += (numbers.get("rows_in") or 0) - left_out


class Left(NamedTuple):
    """Seconds that are left: at least, if nothing that may turn out fresh is computed, and if all of it is."""

    least: float
    most: float


class Work:
    """All that a build computes, by stage. It costs a few microseconds per partition.

    raw_bytes: of all raw files. running: partitions that were handed out and are not done; the builder sets it.
    """

    def __init__(
        self, planner: Planner, stages: Iterable[Stage], workers: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._planner = planner
        self._clock = clock
        self._started = clock()
        self._began: float | None = None
        self.workers = max(1, workers)
        self._texts = Texts(planner)
        self.raw_bytes = sum(self._texts.raw.values())
        self.running = 0
        self._before: dict[str, dict[str | None, float]] = {}
        self._unsure: dict[str, set[str | None]] = {}
        self.stages = {stage.name: work for stage in stages if (work := self._of(stage)).due}

    def _of(self, stage: Stage) -> StageWork:
        decisions = [one for one in self._planner.decisions(stage).values() if one.status is not Status.FRESH]
        found = StageWork(self._costs(stage), len(decisions), stage.moves)
        records = self._planner.records(stage.name) if decisions else {}
        before = {one.partition: _seconds(records[one.partition]) for one in decisions if one.partition in records}
        unsure = {one.partition for one in decisions if one.status is Status.WAITING}
        self._before[stage.name], self._unsure[stage.name] = before, unsure
        for key in (one.partition for one in decisions):
            found.costs.expect(before.get(key), self._raw(stage, key), unsure=key in unsure)
        return found

    def _costs(self, stage: Stage) -> Costs:
        return Costs(stage, self._texts, alone=stage.partitioning is Partitioning.NONE)

    def _raw(self, stage: Stage, key: str | None) -> Counter[str]:
        """Returns the raw bytes that a partition is made of; for one of many shards an equal part of all bytes."""
        if (shard := self._shard(stage, key)) is not None:
            return Counter({shard.source: shard.bytes})
        return Counter({ALL: self.raw_bytes // max(1, len(self._planner.partitions(stage)))})

    def _shard(self, stage: Stage, key: str | None) -> Shard | None:
        return self._planner.shard(key) if stage.partitioning is Partitioning.SHARD else None

    def begins(self, stage: Stage) -> None:
        """Notes that a stage starts: some of its partitions may have turned out fresh, or not."""
        if (work := self.stages.get(stage.name)) is not None and not work.done + work.failed:
            self.stages[stage.name] = self._of(stage)

    def took(self, outcome: Outcome) -> None:
        """Counts a partition that is done or has failed."""
        work = self.stages.get(outcome.asset)
        if work is None:  # rebuilt because of a damaged file
            return
        stage, key, record = self._planner.graph[outcome.asset], outcome.partition, outcome.record
        if record is None:
            work.failed += 1
        else:
            work.add(record)
            if stage.name == READ:
                self._texts.read(self._shard(stage, key), record.statistics.get("text_bytes"))
        seconds = _seconds(record) if record is not None and not outcome.elsewhere else 0.0
        self._began = self._clock() - seconds if self._began is None else self._began
        unsure = key in self._unsure[stage.name]
        before = self._before[stage.name].pop(key, None)
        work.costs.took(before, self._raw(stage, key), seconds if record is not None else None, unsure=unsure)

    def settled(self, name: str) -> None:
        """Notes that nothing of a stage will be computed any more: its remaining partitions are fresh, or wait."""
        if (work := self.stages.get(name)) is not None:
            work.costs.settle()
            work.due = work.done + work.failed

    @property
    def due(self) -> int:
        """Partitions to compute, as far as is known now."""
        return sum(work.due for work in self.stages.values())

    @property
    def done(self) -> int:
        """Partitions that are done or have failed."""
        return sum(work.done + work.failed for work in self.stages.values())

    @property
    def seconds(self) -> float:
        """Seconds since the build began."""
        return self._clock() - self._started

    def left(self) -> Left:
        """Returns about how many seconds the rest takes (docs/before-a-build.md)."""
        costs = [work.costs for work in self.stages.values()]
        speed = speed_of(costs)
        most = sum(one.rest(speed, self.workers) for one in costs)
        if not most:
            return Left(END, END)
        least = sum(one.rest(speed, self.workers, least=True) for one in costs)
        between = self._between(costs) * sum(one.share_left for one in costs)
        start = max(0.0, START - self.seconds) if self._began is None else 0.0
        return Left(start + between * least / most + least + END, start + between + most + END)

    def _between(self, costs: Sequence[Costs]) -> float:
        """Returns the seconds for which workers wait at a stage: for its code, its last partition, and the driver."""
        if self._began is None:
            return BETWEEN
        behind = sum(one.behind(self.workers) for one in costs)
        waited = max(0.0, self._clock() - self._began - behind)
        return (SURE * BETWEEN + waited) / (SURE + sum(1 - one.share_left for one in costs))

    def bytes_per_second(self) -> float | None:
        """Returns how many raw bytes have gone through the whole build per second so far, in proportion to its work.

        They are counted as they are stored, compressed or not. None before anything is done.
        """
        costs = [work.costs for work in self.stages.values()]
        behind = sum(one.behind(self.workers) for one in costs)
        if not behind:
            return None
        speed = speed_of(costs)
        left = sum(one.rest(speed, self.workers) for one in costs)
        return behind / (behind + left) * self.raw_bytes / max(self.seconds, 1e-9)


def _seconds(record: Record) -> float:
    """Returns the seconds that a partition took, without those in which kernels were compiled: once, for all."""
    numbers = record.statistics
    return max(0.0, float(numbers.get("seconds", 0.0)) - float(numbers.get("compile_seconds", 0.0)))


def rest_words(left: Left) -> list[str]:
    """Returns in words how much time is left, as one phrase.

    If much of what is left may turn out fresh, the phrase names both ends.
    """
    least, most = left
    if most < 1:
        return ["less than 1 s left"]
    if least < CLEAR * most and _rough(least) != _rough(most):
        return [f"{_rough(least)} to {_rough(most)} left"]
    return [f"about {_rough(most)} left"]


def _rough(seconds: float) -> str:
    """Returns a time no more exactly than a forecast knows it: `34 s`, `3 min 20 s`, `36 min`, `2 h 5 min`."""
    if seconds < 60:
        return f"{round(seconds)} s"
    return duration(round(seconds, -1)) if seconds < 600 else duration(round(seconds / 60) * 60).removesuffix(" 0 s")


def speed_words(rate: float | None) -> list[str]:
    """Returns in words how many bytes of raw files go through a build per second, as one phrase; none if unknown."""
    return [] if rate is None else [f"{size(rate)}/s of raw files"]


def dropped_phrases(dropped: Counter[str], most: int = 3) -> list[str]:
    """Returns how many rows were dropped, and each of the first reasons, as phrases; none if none were."""
    if not dropped.total():
        return []
    return [f"{dropped.total():,} dropped", *(f"{reason} {count:,}" for reason, count in dropped.most_common(most))]


def dropped_words(dropped: Counter[str], most: int = 5) -> str:
    """Returns in words how many rows were dropped, and for which reasons; empty if none were."""
    if not dropped.total():
        return ""
    shown = ", ".join(f"{reason} {count:,}" for reason, count in dropped.most_common(most))
    return f"{dropped.total():,} dropped ({shown}{', ...' if len(dropped) > most else ''})"
