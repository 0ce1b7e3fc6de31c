"""The work of a build: done, left, and the expected time, by the bytes of the raw files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from corpus_assets.numbers import duration, size
from corpus_assets.raw.losses import NOT_SAMPLED
from resources.ledger.records import Record
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome


@dataclass
class StageWork:
    """The work of one stage. Bytes are those of the raw files that its partitions are made of.

    not_sampled: rows that are left out because the corpus is a sample; they are not among those that came in.
    due: partitions to compute.
    left_bytes: of those that are not done.
    seconds: of work, of those that are done.
    before: seconds per byte when the stage ran before; None if it never did.
    alone: whether it runs on one worker.
    moves: reasons of rows that went elsewhere, which are not dropped (`Stage.moves`).
    """

    due: int
    left_bytes: float
    alone: bool = False
    before: float | None = None
    moves: Container[str] = ()
    done: int = 0
    failed: int = 0
    done_bytes: float = 0.0
    seconds: float = 0.0
    rows_in: int = 0
    rows_out: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    not_sampled: int = 0

    @property
    def rate(self) -> float | None:
        """Seconds per byte, as far as any are known."""
        return self.seconds / self.done_bytes if self.done_bytes else self.before

    def add(self, record: Record, size: float) -> None:
        """Counts a partition that is done."""
        numbers = record.statistics
        self.done += 1
        self.done_bytes += size
        self.seconds += _seconds(numbers)
        self.rows_out += numbers.get("rows_out") or 0
        if dropped := numbers.get("dropped"):
            self.dropped.update({reason: rows for reason, rows in dropped.items() if reason not in self.moves})
        left_out = self.dropped.pop(NOT_SAMPLED, 0)
        self.not_sampled += left_out
        self.rows_in += (numbers.get("rows_in") or 0) - left_out


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
        self.workers = max(1, workers)
        self.raw_bytes = sum(shard.bytes for shard in planner.listing.shards)
        self.running = 0
        self.stages = {stage.name: work for stage in stages if (work := self._of(stage)).due}
        self._partitions = {name: max(1, len(planner.partitions(planner.graph[name]))) for name in self.stages}

    def _of(self, stage: Stage) -> StageWork:
        decisions = self._planner.decisions(stage).values()
        keys = [one.partition for one in decisions if one.status is not Status.FRESH]
        parts = max(1, len(decisions))
        left = sum(self._size(stage, key, parts) for key in keys)
        records = self._planner.records(stage.name).values() if keys else ()
        seconds = sum(_seconds(record.statistics) for record in records)
        known = sum(self._size(stage, record.partition, parts) for record in records)
        before = seconds / known if known else None
        return StageWork(len(keys), left, stage.partitioning is Partitioning.NONE, before, stage.moves)

    def _size(self, stage: Stage, key: str | None, parts: int) -> float:
        """Returns the raw bytes that a partition is made of; for one of many shards an equal part of all bytes."""
        shard = self._planner.shard(key) if stage.partitioning is Partitioning.SHARD else None
        return shard.bytes if shard is not None else self.raw_bytes / parts

    def took(self, outcome: Outcome) -> None:
        """Counts a partition that is done or has failed."""
        work = self.stages.get(outcome.asset)
        if work is None:  # rebuilt because of a damaged file
            return
        stage = self._planner.graph[outcome.asset]
        size = self._size(stage, outcome.partition, self._partitions[outcome.asset])
        work.left_bytes = max(0.0, work.left_bytes - size)
        if outcome.record is None:
            work.failed += 1
        else:
            work.add(outcome.record, size)

    def settled(self, name: str) -> None:
        """Notes that nothing of a stage will be computed any more: its remaining partitions are fresh, or wait."""
        if (work := self.stages.get(name)) is not None:
            work.left_bytes = 0.0
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

    def _ahead(self) -> Iterator[tuple[float, float]]:
        """Yields for each stage the seconds of wall time that are behind, and those that are left."""
        for work in self.stages.values():
            sharing = 1 if work.alone else min(self.workers, max(1, work.due))
            yield work.seconds / sharing, work.left_bytes * (work.rate or 0.0) / sharing

    def left(self) -> float | None:
        """Returns about how many seconds the rest takes; None while a stage that is left never ran.

        Stages differ by a factor of hundreds in the cost of a byte, so other stages give no estimate.
        """
        if any(work.rate is None and work.left_bytes for work in self.stages.values()):
            return None
        return sum(left for _, left in self._ahead())

    def bytes_per_second(self) -> float | None:
        """Returns how many raw bytes have gone through the whole build per second so far, in proportion to its work.

        They are counted as they are stored, compressed or not. None while the work that is left is not known.
        """
        if self.left() is None:
            return None
        found = list(self._ahead())
        behind, left = sum(one for one, _ in found), sum(one for _, one in found)
        share = behind / (behind + left) if behind else 0.0
        return share * self.raw_bytes / max(self.seconds, 1e-9)


def _seconds(numbers: Mapping[str, Any]) -> float:
    """Returns the seconds that a partition took, without those in which kernels were compiled: once, for all."""
    return max(0.0, float(numbers.get("seconds", 0.0)) - float(numbers.get("compile_seconds", 0.0)))


def rest_words(left: float | None) -> list[str]:
    """Returns in words how much time is left, as one phrase; none while it is not known, and once nothing is left."""
    if not left:
        return []
    return [f"about {duration(left)} left" if left >= 1 else "less than 1 s left"]


def speed_words(rate: float | None) -> list[str]:
    """Returns in words how many bytes of raw files go through a build per second, as one phrase; none if unknown."""
    return [] if rate is None else [f"{size(rate)}/s of raw files"]


def dropped_words(dropped: Counter[str], most: int = 5) -> str:
    """Returns in words how many rows were dropped, and for which reasons; empty if none were."""
    if not dropped.total():
        return ""
    shown = ", ".join(f"{reason} {count:,}" for reason, count in dropped.most_common(most))
    return f"{dropped.total():,} dropped ({shown}{', ...' if len(dropped) > most else ''})"
