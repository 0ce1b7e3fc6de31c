"""`corpus audit dedup`: draws a sheet of removed documents, or reads judgements and prints the share of wrong ones."""

from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from corpus_assets import numbers
from corpus_assets.audit.audit import drawn, read
from corpus_assets.audit.page import sheet
from corpus_assets.audit.removed import COMPONENTS, Deduplicated
from corpus_assets.audit.sheet import csv_of
from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.step import Step
from corpus_assets.report.assets import NAME as REPORT
from corpus_assets.report.audit.result import Result, keep, kept
from corpus_assets.report.audit.shown import COLUMNS, table
from corpus_assets.tracing.look import Look
from resources.errors import ConfigError, CorpusError
from resources.system_errors import raise_machine_error

_CSV, _HTML = "sheet.csv", "sheet.html"


def draw(config: Path | None, size: int, seed: int, folder: Path, *, force: bool, as_json: bool) -> None:
    """Writes both sheets. `ConfigError` if there is one, which may have judgements."""
    if (there := folder / _CSV).exists() and not force:
        raise ConfigError(f"{there} is there and may hold judgements; give another --output, or --force to replace it")
    corpus = Corpus.open(config)
    found = _opened(corpus)
    items, result = drawn(found, size, seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there.write_bytes(csv_of(items, found.build))
        (folder / _HTML).write_text(sheet(items, result, _CSV), encoding="utf-8")
    except OSError as error:
        raise_machine_error(error, "writing", folder)
        raise ConfigError(f"--output {folder}: cannot be written: {error.strerror}") from None
    if kept(corpus.storage, found.build) is None:
        _keep(corpus, result)
    _print(result, [f"{len(items):,} removed documents to judge: {folder / _HTML}, {there}"], as_json=as_json)


def judged(config: Path | None, path: Path, *, as_json: bool) -> None:
    """Reads a sheet, keeps the result for the pages, and prints it."""
    corpus = Corpus.open(config)
    result = read(_opened(corpus), path)
    _keep(corpus, result)
    said = "documents were judged; shares are of removed documents with another text than the one kept"
    _print(result, [f"{result.judged:,} {said}, with the ends of 95 % confidence intervals"], as_json=as_json)


def _opened(corpus: Corpus) -> Deduplicated:
    """Returns the near-duplicates that are built; says so if others would be built now."""
    found = Deduplicated(Look(corpus))
    if why := found.look.state(COMPONENTS, None):
        print_line(errors(), f"this is about the near-duplicates that are built; {COMPONENTS} is {why}", "note")
    return found


def _keep(corpus: Corpus, result: Result) -> None:
    """Keeps a result for the pages, and makes a report that is up to date again, whose content stays the same."""
    try:
        keep(corpus.storage, result)
        if not Look(corpus).state(REPORT, None):
            step = Step(corpus, corpus.graph[REPORT], force=True)
            step.run()
            for failure in step.failures():
                print_line(errors(), failure, "failed")
    except (CorpusError, OSError) as error:
        print_line(errors(), f"the pages will not show this, because the store cannot be written: {error}", "note")
    finally:
        corpus.close()


def _print(result: Result, lines: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json(as_plain(result))
        return
    out = output()
    shown = Table(*(name for name, _ in COLUMNS), box=None, pad_edge=False)
    for column in shown.columns[1:]:
        column.justify = "right"
    for name, *values in table(result):
        kinds = (kind for _, kind in COLUMNS[1:])
        shown.add_row(str(name), *(_cell(value, kind) for value, kind in zip(values, kinds, strict=True)))
    out.print(shown)
    for line in lines:
        print_line(out, line)


def _cell(value: Any, kind: str) -> str:
    return "" if value is None else f"{value:.2%}" if kind == "share" else numbers.count(value)


def as_plain(result: Result) -> dict[str, Any]:
    """Returns a result with the share of each source, ready for JSON."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    for name, source in result.sources.items():
        share = source.share()
        plain["sources"][name]["wrong_share"] = None if share is None else share._asdict()
    return plain
