"""`corpus build`: shows the progress of the build, and prints the report at its end."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from typing_extensions import override

from corpus_assets.cli.build.bars import BarPerStage, new_bars
from corpus_assets.cli.build.events import Events
from corpus_assets.cli.build.memory import memory_words
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
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.numbers import amount, duration
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.error_log import write_error_log
from corpus_assets.orchestration.building.log import LEVELS, BuildLog, Level
from corpus_assets.orchestration.building.report import Progress, Report, Several
from corpus_assets.orchestration.building.summary import Summary, Unfinished
from corpus_assets.orchestration.freshness.causes import Causes
from corpus_assets.orchestration.shown.figures import plain
from resources.errors import ConfigError
from resources.ledger.records import set_words
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

_NUMBERS = {
    "documents": "documents in",
    "kept": "which documents are kept",
    "train": "documents for training",
    "held_out": "documents held out",
}


@dataclass(frozen=True)
class Said:
    """The output of a build: one JSON object at its end, events as JSON, or words.

    quiet: print only failures and the end. log_level: the lowest level in the log.
    """

    as_json: bool = False
    events: bool = False
    quiet: bool = False
    log_level: str = "info"

    def level(self) -> Level:
        """Returns the level of the log; `ConfigError` for an unknown one, and for two kinds of output at once."""
        if self.as_json + self.events + self.quiet > 1:
            raise ConfigError("give one of --json, --events and --quiet")
        for level in LEVELS:
            if level == self.log_level:
                return level
        raise ConfigError(f"--log-level: received {self.log_level!r}; valid: {', '.join(LEVELS)}")


def run(
    config: Path | None, select: list[str] | None, changes: Sequence[str], said: Said, *, checks: bool, rehash: bool
) -> int:
    """Builds and prints the report; returns the exit code. changes: of the configuration, `KEY=VALUE` each."""
    level = said.level()
    corpus = Corpus.open(config, changes)
    stages = selected(corpus, select)
    log = BuildLog(corpus.home, level, changes=corpus.changes)
    events = Events() if said.events else None
    with new_bars(errors(), disable=said.as_json or said.events or said.quiet) as bars:
        bars_too: Progress = _Failures(errors()) if said.quiet else BarPerStage(bars, lambda: memory_words(corpus))
        followers = [events or bars_too, log]
        try:
            report = build(corpus, stages, Several(*followers), checks=checks, rehash=rehash)
        except BaseException:
            log.close()
            raise
    log.ends(report)
    found = _as_json(report, write_error_log(corpus.home, report), log.path)
    if events:
        events.end(found)
    elif said.as_json:
        print_json(found)
    else:
        _show(output(), report, corpus, found["log"], quiet=said.quiet)
    return 0 if report.ok else FAILED


class _Failures(Progress):
    """Prints failures and nothing else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @override
    def stage(self, stage: Stage, due: int) -> None:
        return

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            print_line(self._console, f"{outcome.name}: {outcome.error}", "failed")

    @override
    def warns(self, what: str) -> None:
        print_line(self._console, what, "warning")


def _as_json(report: Report, log: Path | None, build_log: Path | None) -> dict[str, Any]:
    return {
        "recomputed": report.recomputed,
        "elsewhere": report.elsewhere,
        "fresh": report.fresh,
        "failed": len(report.failed),
        "waiting": len(report.waiting),
        "seconds": report.seconds,
        "by_asset": report.by_asset,
        "errors": [*report.failed, *report.failed_checks],
        "held_back": report.held_back,
        "log": None if log is None else str(log),
        "build_log": None if build_log is None else str(build_log),
        "summary": asdict(report.summary),
        "notes": report.notes,
        "examples": report.examples,
        "orphans": report.orphans,
        "set": list(report.changes),
    }


def _show(out: Console, report: Report, corpus: Corpus, log: str | None, *, quiet: bool = False) -> None:
    """Prints the report, with the errors that were not printed when they happened.

    log: the file with all errors, if there are any. quiet: print only failures and the last line.
    """
    if not quiet:
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
        held = f"{amount(waits, 'partitions')} {'waits' if waits == 1 else 'wait'}"
        print_line(out, f"{held} for others that failed or are not selected: corpus plan")
    if not quiet:
        print_notes(out, report.notes)
        print_notes(out, report.examples, "dropped")
    if report.orphans and not quiet:
        print_line(
            out,
            f"{amount(report.orphans, 'orphans')} still stored (raw file, band, chunk or asset is gone): corpus clean",
        )
    if quiet and log is not None:
        print_line(out, f"All errors are in {log}")
    failed = f", {len(report.failed):,} failed" if report.failed else ""
    took = duration(report.seconds)
    shared = f", {report.elsewhere:,} built by another builder" if report.elsewhere else ""
    print_line(
        out, f"{amount(report.recomputed, 'partitions')} recomputed, {report.fresh:,} fresh{shared}{failed}, in {took}"
    )
    if not quiet:
        _show_places(out, report, corpus, log)


def _show_places(out: Console, report: Report, corpus: Corpus, log: str | None) -> None:
    """Prints where errors, the corpus and its report are, and with which configuration it was built."""
    if log is not None:
        print_line(out, f"All errors are in {log}")
    if report.changes:
        again = f"a build of {corpus.file.name} without it makes again what depends on it (corpus plan)"
        print_line(out, f"Built with --set {set_words(report.changes)}: {again}")
    if report.ok:
        print_line(out, f"The corpus is in {corpus.storage.place}")
    if report.summary.page:
        print_line(out, f"Report: {_near(f'{corpus.storage.place}/{report.summary.page}')}")


def _near(place: str) -> str:
    """Returns a path relative to the current folder, if it lies below it."""
    return place.removeprefix(f"{Path.cwd()}/")


def _not_said_yet(report: Report) -> dict[str, str]:
    """Returns the failures of earlier builds that concern partitions which this build did not try."""
    tried = {line.partition(": ")[0] for line in report.failed}
    return {name: words for name, words in report.causes.failed.items() if name not in tried}


def _show_summary(out: Console, found: Summary) -> None:
    if found.documents:
        print_line(out, f"{_documents(found)}{_kept(found)}{_dropped(found)}")
        if found.not_sampled:
            whole = found.documents + found.not_sampled
            print_line(out, f"this is a sample: {found.documents:,} of {whole:,} rows, {found.documents / whole:.2%}")
        if found.whole("train") and found.whole("held_out"):
            print_line(out, f"{found.train or 0:,} documents for training, {found.held_out or 0:,} documents held out")
    for dataset in found.datasets:
        # Rows without any token are those of texts.
        tokens = f"{dataset.tokens:,} tokens in " if dataset.tokens or not dataset.rows else ""
        print_line(out, f"{dataset.name}: {tokens}{dataset.rows:,} rows, {dataset.folder}")
    for state in Unfinished:
        if names := [_NUMBERS.get(name, name) for name, one in found.unfinished.items() if one is state]:
            print_line(out, f"{state}: {', '.join(names)}")


def _documents(found: Summary) -> str:
    some = f" ({found.read:,} of {found.raw_files:,} raw files)" if found.read < found.raw_files else ""
    return f"{found.documents:,} documents in{some}"


def _kept(found: Summary) -> str:
    """Returns how many documents are kept; nothing while the documents are not mixed."""
    if not found.whole("kept"):
        return ""
    kept, repeats = found.kept or 0, found.repeats or 0
    return f", {kept:,} kept" + (f" (used {kept + repeats:,} times)" if repeats > 0 else "")


def _dropped(found: Summary) -> str:
    return "".join(f", {n:,} dropped as {plain(reason)}" for reason, n in found.dropped.items())
