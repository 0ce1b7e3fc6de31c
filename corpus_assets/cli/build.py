"""`corpus build`: shows progress bars, and prints the report at the end."""

from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from typing_extensions import override

from corpus_assets.cli.console import FAILED, MAX_SHOWN, errors, output, print_json, print_notes, selected
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.build import build
from corpus_assets.orchestration.build_report import Progress, Report
from resources.stage.declaration import Stage
from resources.stage.job import Outcome


def run(config: Path | None, select: list[str] | None, *, as_json: bool, checks: bool) -> int:
    """Builds and prints the report; returns the exit code."""
    corpus = Corpus.open(config)
    stages = selected(corpus, select)
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=errors(), disable=as_json) as bars:
        report = build(corpus, stages, _BarPerStage(bars), checks=checks)
    print_json(_as_json(report)) if as_json else _show(report, corpus)
    return 0 if report.ok else FAILED


class _BarPerStage(Progress):
    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._task = self._bars.add_task(stage.name, total=due)

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._bars.console.print(f"[red]failed[/red] {outcome.name}: {outcome.error}", highlight=False)
        elif self._task is not None:
            self._bars.advance(self._task)


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "recomputed": report.recomputed,
        "fresh": report.fresh,
        "failed": len(report.failed),
        "waiting": len(report.waiting),
        "seconds": report.seconds,
        "by_asset": report.by_asset,
        "errors": [*report.failed, *report.failed_checks],
        "notes": report.notes,
        "orphans": report.orphans,
    }


def _show(report: Report, corpus: Corpus) -> None:
    out = output()
    out.print(f"{report.recomputed:,} partitions recomputed, {report.fresh:,} fresh, in {report.seconds} s")
    for title, lines in (("failed", report.failed), ("check", report.failed_checks)):
        for line in lines[:MAX_SHOWN]:
            out.print(f"[red]{title}[/red] {line}", highlight=False)
        if len(lines) > MAX_SHOWN:
            out.print(f"... and {len(lines) - MAX_SHOWN} more")
    for held in report.held_back:
        out.print(f"[red]stop[/red] {held}", highlight=False)
    if report.waiting:
        out.print(f"{len(report.waiting):,} partitions wait for others that failed or are not selected: corpus plan")
    print_notes(out, report.notes)
    if report.orphans:
        out.print(f"{report.orphans} orphans are still stored (their raw file, band or chunk is gone): corpus clean")
    if report.ok:
        out.print(f"The corpus is in {corpus.storage.place}")
