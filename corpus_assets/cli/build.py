"""`corpus build`: shows progress bars, and prints the report at the end."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from typing_extensions import override

from corpus_assets.cli.console import (
    FAILED,
    MAX_SHOWN,
    errors,
    output,
    print_causes,
    print_json,
    print_line,
    print_notes,
    selected,
)
from corpus_assets.cli.memory import memory_words
from corpus_assets.cli.words import duration
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.build import build
from corpus_assets.orchestration.build_report import Progress, Report
from corpus_assets.orchestration.causes import Causes
from corpus_assets.orchestration.error_log import write_error_log
from corpus_assets.orchestration.summary import Summary
from resources.stage.declaration import Stage
from resources.stage.job import Outcome


def run(config: Path | None, select: list[str] | None, *, as_json: bool, checks: bool, rehash: bool) -> int:
    """Builds and prints the report; returns the exit code."""
    corpus = Corpus.open(config)
    stages = selected(corpus, select)
    with Bars(*_columns(), console=errors(), disable=as_json) as bars:
        report = build(corpus, stages, _BarPerStage(bars, lambda: memory_words(corpus)), checks=checks, rehash=rehash)
    log = write_error_log(corpus.folder, report)
    print_json(_as_json(report, log)) if as_json else _show(output(), report, corpus, log)
    return 0 if report.ok else FAILED


def _columns() -> tuple[TextColumn, BarColumn, MofNCompleteColumn, TimeElapsedColumn]:
    return TextColumn("{task.description:24}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()


class _BarPerStage(Progress):
    """A bar per stage, and one below them whose word says what happens between stages. Errors appear above them."""

    def __init__(self, bars: Bars, at_first: Callable[[], str]) -> None:
        """at_first: a sentence for the moment when it is known that there is something to compute."""
        self._bars = bars
        self._at_first = at_first
        self._stages: dict[str, TaskID] = {}
        self._between: TaskID | None = None
        self._aside: TaskID | None = None
        self._errors = 0

    @override
    def doing(self, what: str) -> None:
        self._end_of_word()
        self._between = self._bars.add_task(f"{what} ...", total=None)

    @override
    def aside(self, what: str) -> None:
        if self._aside is not None:
            self._bars.remove_task(self._aside)
        self._aside = self._bars.add_task(f"{what} ...", total=None) if what else None

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._end_of_word()
        if not self._stages and not self._bars.disable:
            print_line(self._bars.console, self._at_first())
        self._stages[stage.name] = self._bars.add_task(stage.name, total=due)

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._errors += 1
            if self._errors <= MAX_SHOWN:
                print_line(self._bars.console, f"{outcome.name}: {outcome.error}", "failed")
        elif outcome.asset in self._stages:
            self._bars.advance(self._stages[outcome.asset])

    @override
    def done(self) -> None:
        self._end_of_word()

    def _end_of_word(self) -> None:
        if self._between is not None:
            self._bars.remove_task(self._between)
            self._between = None


def _as_json(report: Report, log: Path | None) -> dict[str, Any]:
    return {
        "recomputed": report.recomputed,
        "fresh": report.fresh,
        "failed": len(report.failed),
        "waiting": len(report.waiting),
        "seconds": report.seconds,
        "by_asset": report.by_asset,
        "errors": [*report.failed, *report.failed_checks],
        "held_back": report.held_back,
        "log": None if log is None else str(log),
        "summary": asdict(report.summary),
        "notes": report.notes,
        "orphans": report.orphans,
    }


def _show(out: Console, report: Report, corpus: Corpus, log: Path | None) -> None:
    """Prints the report. Errors of partitions were printed when they happened; here are all the others."""
    _show_summary(out, report.summary)
    for line in report.crashes:
        print_line(out, line, "failed")
    for line in report.failed_checks[:MAX_SHOWN]:
        print_line(out, line, "check")
    if len(report.failed_checks) > MAX_SHOWN:
        out.print(f"... and {len(report.failed_checks) - MAX_SHOWN} more")
    print_causes(out, Causes(gates=report.causes.gates, failed=_not_said_yet(report)))
    waits = len(report.waiting) - sum(report.causes.gates.values())
    if waits > 0:
        print_line(out, f"{waits:,} partitions wait for others that failed or are not selected: corpus plan")
    print_notes(out, report.notes)
    if report.orphans:
        print_line(
            out,
            f"{report.orphans} orphans are still stored (their raw file, band, chunk or asset is gone): corpus clean",
        )
    failed = f", {len(report.failed):,} failed" if report.failed else ""
    took = duration(report.seconds)
    print_line(out, f"{report.recomputed:,} partitions recomputed, {report.fresh:,} fresh{failed}, in {took}")
    if log is not None:
        print_line(out, f"All errors are in {log}")
    if report.ok:
        print_line(out, f"The corpus is in {corpus.storage.place}")
    if report.summary.page:
        print_line(out, f"Report: {_near(f'{corpus.storage.place}/{report.summary.page}')}")


def _near(place: str) -> str:
    """Returns a path as it is written from the current folder, if it lies below it."""
    return place.removeprefix(f"{Path.cwd()}/")


def _not_said_yet(report: Report) -> dict[str, str]:
    """Returns the failures of earlier builds: those of partitions that this build did not try."""
    tried = {line.partition(": ")[0] for line in report.failed}
    return {name: words for name, words in report.causes.failed.items() if name not in tried}


def _show_summary(out: Console, found: Summary) -> None:
    if found.documents:
        dropped = "".join(f", {n:,} dropped as {reason.replace('_', ' ')}" for reason, n in found.dropped.items())
        repeats = f" (used {found.kept + found.repeats:,} times)" if found.repeats > 0 else ""
        print_line(out, f"{found.documents:,} documents in, {found.kept:,} kept{repeats}{dropped}")
        print_line(out, f"{found.train:,} rows for training, {found.held_out:,} documents held out")
    for dataset in found.datasets:
        print_line(out, f"{dataset.name}: {dataset.tokens:,} tokens in {dataset.rows:,} rows, {dataset.folder}")
