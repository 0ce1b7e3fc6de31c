"""`corpus build --events`: what happens in a build as lines of JSON on standard output, while it happens."""

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TextIO

from typing_extensions import override

from corpus_assets.cli.build.memory import resident
from corpus_assets.orchestration.building.report import Progress
from corpus_assets.orchestration.building.work import Work
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

_EVERY = 1.0
"""Seconds between two progress events."""


class Events(Progress):
    """Writes an event per line: an object whose `kind` says what happened, and `time` when."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out or sys.stdout
        self._clock = clock
        self._work: Work | None = None
        self._said = 0.0

    @override
    def doing(self, what: str) -> None:
        self._write("doing", what=what)

    @override
    def shares(self, builders: Sequence[str]) -> None:
        self._write("shares", builders=[*builders])

    @override
    def alone(self, place: str) -> None:
        self._write("alone", store=place)

    @override
    def begins(self, work: Work) -> None:
        self._work, self._said = work, self._clock()
        self._write(
            "begin", partitions=work.due, stages=len(work.stages), raw_bytes=work.raw_bytes, workers=work.workers
        )
        self._say_how_far()

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._write("stage", asset=stage.name, partitions=due)

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.record is None:
            self._write("failed", asset=outcome.asset, partition=outcome.partition, error=outcome.error)
        else:
            numbers = outcome.record.statistics
            self._write(
                "partition",
                asset=outcome.asset,
                partition=outcome.partition,
                seconds=numbers.get("seconds"),
                rows_in=numbers.get("rows_in"),
                rows_out=numbers.get("rows_out"),
                dropped=numbers.get("dropped", {}),
                bytes=sum(file.bytes for file in outcome.record.files),
                **({"elsewhere": True} if outcome.elsewhere else {}),
            )
        if self._clock() - self._said >= _EVERY:
            self._said = self._clock()
            self._say_how_far()

    def _say_how_far(self) -> None:
        if (work := self._work) is not None:
            left = work.left()
            rate = work.bytes_per_second()
            self._write(
                "progress",
                done=work.done,
                partitions=work.due,
                running=work.running,
                seconds=round(work.seconds, 3),
                seconds_left=round(left.most, 1),
                seconds_left_least=round(left.least, 1),
                bytes_per_second=None if rate is None else round(rate),
                memory=resident(),
            )

    @override
    def settled(self, stage: Stage) -> None:
        work = self._work.stages.get(stage.name) if self._work else None
        if work is not None:
            numbers = {"done": work.done, "failed": work.failed, "seconds": round(work.seconds, 3)}
            self._write("settled", asset=stage.name, **numbers, dropped=dict(work.dropped))

    @override
    def warns(self, what: str) -> None:
        self._write("warning", what=what)

    def end(self, report: Mapping[str, Any]) -> None:
        """Writes the last event, which holds all that `--json` prints."""
        self._write("end", **report)

    def _write(self, kind: str, **values: Any) -> None:
        event = {"kind": kind, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **values}
        self._out.write(json.dumps(event, ensure_ascii=False) + "\n")
        self._out.flush()
