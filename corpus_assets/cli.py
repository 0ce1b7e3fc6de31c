"""The `corpus` command.

Exit codes: 0 all is well; 1 something failed; 2 the command or configuration is wrong; 3 `plan` with --check or --json
found something not fresh; 130 interrupted.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from corpus_assets.build import Report, build
from corpus_assets.corpus import Corpus
from corpus_assets.verify import verify
from resources.errors import ConfigError, CorpusError
from resources.execute import Outcome
from resources.graph import Stage
from resources.plan import HELD_BACK, Plan, Status

FAILED, USAGE, NOT_FRESH, INTERRUPTED = 1, 2, 3, 130
MAX_SHOWN = 20
_FILE_WIDTH = 240
_MAY_CHANGE = "may change: something it reads is not fresh"

app = typer.Typer(
    name="corpus",
    help="Prepare LLM training corpora: see what is stale and why, rebuild just that, verify what is there.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console(stderr=True)

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The corpus.yaml; default $CORPUS_CONFIG, else ./corpus.yaml."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        help="Asset, group:NAME, +asset (with what it reads) or asset+ (with what reads it).",
    ),
]


def _stages(corpus: Corpus, select: list[str] | None) -> list[Stage]:
    names = [name for entry in select or [] for name in entry.split(",") if name]
    return corpus.graph.select(names) if names else list(corpus.graph)


def _print(value: Any) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


@app.command()
def plan(
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 3 when not all is fresh, as --json does.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List fresh partitions too.")] = False,
) -> None:
    """Say which partitions are not fresh, and why. Changes nothing."""
    corpus = Corpus.open(config)
    found = corpus.planner().plan(_stages(corpus, select) if select else None)
    if as_json:
        rows = [
            {"asset": d.asset, "partition": d.partition, "status": str(d.status), "reason": d.reason}
            for d in found.decisions
        ]
        orphans = [{"asset": asset, "partition": partition} for asset, partition in found.orphans]
        _print({"partitions": rows, "counts": found.counts(), "orphans": orphans, "notes": found.notes})
    else:
        _show_plan(found, every)
    if (check or as_json) and any(decision.status is not Status.FRESH for decision in found.decisions):
        raise typer.Exit(NOT_FRESH)


def _show_plan(found: Plan, every: bool) -> None:
    table = Table("asset", "partition", "status", "reason", box=None, pad_edge=False)
    groups: dict[tuple[str, Status, str], list[str]] = {}
    for decision in found.decisions:
        if every or decision.status is not Status.FRESH:
            waits = decision.status is Status.WAITING
            key = (decision.asset, decision.status, _MAY_CHANGE if waits else decision.reason)
            groups.setdefault(key, []).append(decision.partition or "")
    for (asset, status, reason), keys in groups.items():
        many = f"{keys[0]} and {len(keys) - 1} more" if len(keys) > 1 else keys[0]
        table.add_row(asset, many, status, reason)
    out = _wide_console()
    if groups:
        out.print(table)
    _show_notes(out, found.notes)
    if found.orphans:
        out.print(f"{len(found.orphans)} orphans (their raw file, band, chunk or asset is gone): corpus clean")
    out.print(", ".join(f"{count:,} {status}" for status, count in found.counts().items()))


def _wide_console() -> Console:
    """A console that cuts nothing off where nobody looks at it as a screen."""
    return Console() if sys.stdout.isatty() else Console(width=_FILE_WIDTH)


def _show_notes(out: Console, notes: list[str]) -> None:
    for note in notes[:MAX_SHOWN]:
        out.print(f"note: {note}", markup=False, highlight=False)
    if len(notes) > MAX_SHOWN:
        out.print(f"... and {len(notes) - MAX_SHOWN} more")


class _Bars:
    """Progress bars for a person."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def stage(self, stage: Stage, due: int) -> None:
        """See `build.Progress`."""
        self._task = self._progress.add_task(stage.name, total=due)

    def outcome(self, outcome: Outcome) -> None:
        """See `build.Progress`."""
        if outcome.error is not None:
            self._progress.console.print(f"[red]failed[/red] {outcome.name}: {outcome.error}", highlight=False)
        elif self._task is not None:
            self._progress.advance(self._task)


@app.command("build")
def build_command(
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    checks: Annotated[bool, typer.Option(help="Run the asset checks of what was rebuilt.")] = True,
) -> None:
    """Bring everything, or the selected assets, up to date; what is fresh is left alone."""
    corpus = Corpus.open(config)
    stages = _stages(corpus, select)
    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=as_json) as progress:
        report = build(corpus, stages, _Bars(progress), checks=checks)
    _print(_report_json(report)) if as_json else _show_report(report, corpus)
    raise typer.Exit(0 if report.ok else FAILED)


def _report_json(report: Report) -> dict[str, Any]:
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


def _show_report(report: Report, corpus: Corpus) -> None:
    out = _wide_console()
    out.print(f"{report.recomputed:,} partitions recomputed, {report.fresh:,} fresh, in {report.seconds} s")
    for title, lines in (("failed", report.failed), ("check", report.failed_checks)):
        for line in lines[:MAX_SHOWN]:
            out.print(f"[red]{title}[/red] {line}", highlight=False)
        if len(lines) > MAX_SHOWN:
            out.print(f"... and {len(lines) - MAX_SHOWN} more")
    for held in dict.fromkeys(line.partition(": ")[2] for line in report.waiting if HELD_BACK in line):
        out.print(f"[red]stop[/red] {held}", highlight=False)
    if report.waiting:
        out.print(f"{len(report.waiting):,} partitions wait for what failed or was not selected; see `corpus plan`")
    _show_notes(out, report.notes)
    if report.orphans:
        out.print(f"{report.orphans} orphans are still stored (their raw file, band or chunk is gone): corpus clean")
    if report.ok:
        out.print(f"The corpus is in {corpus.storage.root}")


@app.command("verify")
def verify_command(
    config: ConfigOption = None,
    as_json: JsonOption = False,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte again and compare digests.")] = False,
) -> None:
    """Compare the ledger with the files: presence and size, with --deep the content too."""
    corpus = Corpus.open(config)
    result = verify(corpus, deep=deep)
    if as_json:
        _print({"checked": result.checked, "bad": [problem.__dict__ for problem in result.bad]})
    else:
        for problem in result.bad:
            where = f"{problem.asset}/{problem.partition}" if problem.partition else problem.asset
            Console().print(f"[red]bad[/red] {where}: {problem.file}: {problem.problem}", highlight=False)
        Console().print(f"{result.checked:,} files checked, {len(result.bad):,} bad")
    raise typer.Exit(FAILED if result.bad else 0)


@app.command()
def show(
    asset: str,
    partition: Annotated[str | None, typer.Argument()] = None,
    config: ConfigOption = None,
    rows: Annotated[int, typer.Option(help="How many rows to show.", min=0, max=1000)] = 3,
) -> None:
    """Show a partition: its commit record and its first rows."""
    from corpus_assets.show import show_partition

    for line in show_partition(Corpus.open(config), asset, partition, rows):
        Console().print(line, markup=False, highlight=False, soft_wrap=True)


@app.command()
def clean(
    config: ConfigOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove orphans (partitions whose raw file, band, chunk or asset is gone) and abandoned temporary files."""
    from corpus_assets.clean import clean_corpus

    removed = clean_corpus(Corpus.open(config), dry_run=dry_run)
    verb = "would remove" if dry_run else "removed"
    typer.echo(
        f"{verb} {removed.partitions} orphaned partitions, {removed.files} files, {removed.temporary} temporary folders"
    )


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Where to write it.")],
    megabytes: Annotated[float, typer.Option(help="Text to make, in MB.")] = 24,
) -> None:
    """Write the sample corpus: raw shards made from what this Python installation holds."""
    from corpus_assets.raw.sample import write_sample

    summary = write_sample(folder, megabytes=megabytes)
    size = summary.text_bytes / 1e6
    typer.echo(f"{folder}: {summary.documents:,} documents, {size:.1f} MB of text, {summary.shards} shards")


@app.command()
def ui(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3000,
) -> None:
    """Open the Dagster web UI on this corpus."""
    from corpus_assets.dagster_home import serve

    serve(Corpus.open(config), config, host, port)


def main() -> None:
    """Entry point: errors meant for a person are shown as such, without a traceback."""
    try:
        app()
    except ConfigError as error:
        console.print(str(error), markup=False, highlight=False)
        sys.exit(USAGE)
    except KeyboardInterrupt:
        console.print("interrupted; what is done is kept, and the next build goes on from there")
        sys.exit(INTERRUPTED)
    except (CorpusError, OSError) as error:
        console.print(str(error), markup=False, highlight=False)
        sys.exit(FAILED)
