"""The log of a build: its events, line by line, in a file below the DAGSTER_HOME."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal, TextIO

from typing_extensions import override

from corpus_assets.numbers import amount
from corpus_assets.orchestration.building.report import ONE_BUILDER, Progress, Report
from corpus_assets.orchestration.building.work import Work, dropped_words, rest_words, speed_words
from corpus_assets.orchestration.home.folder import dagster_home
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

FOLDER: Final = "logs"
Level = Literal["debug", "info", "warning", "error"]
LEVELS: Final = ("debug", "info", "warning", "error")
KEPT: Final = 20
_EVERY = 30.0
"""Seconds between two progress lines."""


class BuildLog(Progress):
    """Writes a line per event of a build: time in UTC, level, words. Partitions are told at level `debug`.

    The file is made when there is something to compute; if it cannot be written, the build goes on without it. The logs
    of the last builds are kept. home: the folder whose DAGSTER_HOME holds it. level: the lowest level that is written.
    changes: `KEY=VALUE` by which the build differs from its configuration file.
    """

    def __init__(
        self,
        home: Path,
        level: Level = "info",
        clock: Callable[[], float] = time.monotonic,
        changes: Sequence[str] = (),
    ) -> None:
        self._folder = dagster_home(home) / FOLDER
        self._least = LEVELS.index(level)
        self._clock = clock
        self._changes = changes
        self._file: TextIO | None = None
        self._work: Work | None = None
        self._said = 0.0
        self.path: Path | None = None
        self._builders: Sequence[str] = ()

    @override
    def shares(self, builders: Sequence[str]) -> None:
        self._builders = [f"{builder} builds on this store too" for builder in builders]

    @override
    def alone(self, place: str) -> None:
        self._builders = [ONE_BUILDER.format(place)]

    @override
    def begins(self, work: Work) -> None:
        self._work, self._said = work, self._clock()
        self._open()
        sizes = (
            f"{amount(work.due, 'partitions')} of {amount(len(work.stages), 'stages')}, of {work.raw_bytes:,} raw bytes"
        )
        self._write("info", f"a build begins: {sizes}, on {amount(work.workers, 'workers')}")
        for words in [*self._builders, *(f"with --set {change}" for change in self._changes)]:
            self._write("info", words)

    def _open(self) -> None:
        path = self._folder / f"{datetime.now(UTC):%Y-%m-%dT%H-%M-%S.%f}.log"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = path.open("w", encoding="utf-8", errors="backslashreplace")
            self.path = path
            for old in sorted(self._folder.glob("*.log"))[:-KEPT]:
                old.unlink(missing_ok=True)
        except OSError:
            return

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._write("info", f"{stage.name}: begins, {amount(due, 'partitions')}")

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.record is None:
            self._write("error", f"{outcome.name}: {outcome.error}")
        elif self._least == 0:
            numbers = outcome.record.statistics
            rows = f"{numbers.get('rows_in', '-')} rows in, {numbers.get('rows_out', '-')} out"
            made = "made by another builder" if outcome.elsewhere else f"{numbers.get('seconds', 0)} s"
            self._write("debug", f"{outcome.name}: {rows}, {made}")
        if self._clock() - self._said >= _EVERY:
            self._said = self._clock()
            self._say_how_far()

    def _say_how_far(self) -> None:
        if (work := self._work) is not None:
            far = [f"{work.done:,} of {work.due:,} partitions", *speed_words(work.bytes_per_second())]
            self._write("info", ", ".join([*far, *rest_words(work.left())]))

    @override
    def settled(self, stage: Stage) -> None:
        if self._work is None or (work := self._work.stages.get(stage.name)) is None:
            return
        failed = f", {work.failed:,} failed" if work.failed else ""
        self._write("info", f"{stage.name}: ends, {work.done:,} done{failed}, {work.seconds:.1f} s of work")
        if dropped := dropped_words(work.dropped):
            self._write("info", f"{stage.name}: {work.rows_in:,} rows in, {work.rows_out:,} out, {dropped}")

    @override
    def warns(self, what: str) -> None:
        self._write("warning", what)

    def ends(self, report: Report) -> None:
        """Writes the result of a build, and closes the file."""
        for level, lines in (
            ("error", [f"check: {line}" for line in report.failed_checks]),
            ("error", [f"held back: {line}" for line in report.held_back]),
            ("warning", [f"waits: {line}" for line in report.waiting]),
            ("warning", [f"note: {line}" for line in report.notes]),
        ):
            for line in lines:
                self._write(level, line)
        counts = f"{report.recomputed:,} recomputed, {report.fresh:,} fresh, {len(report.failed):,} failed"
        shared = f", {report.elsewhere:,} made by others" if report.elsewhere else ""
        self._write("info", f"the build ends: {counts}{shared}, {report.seconds:.1f} s")
        self.close()

    def close(self) -> None:
        """Closes the file; a build that is interrupted has no last line."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, level: str, words: str) -> None:
        if self._file is None or LEVELS.index(level) < self._least:
            return
        line = " ".join(words.splitlines())
        try:
            self._file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f} {level.upper()} {line}\n")
            if level != "debug":
                self._file.flush()
        except OSError:  # a full disk
            self._file = None
