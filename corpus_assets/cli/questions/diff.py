"""`corpus diff`: the differences of two stores, a store and a kept report, or a store and an earlier build."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from rich.table import Table

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.cli.questions.why import ESCAPES
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.comparison import Difference, compared_sides
from corpus_assets.diff.opened import of_corpus, open_side
from corpus_assets.diff.page import SHOWN, html, sections
from corpus_assets.diff.past import with_its_past
from resources.errors import ConfigError


@dataclass(frozen=True)
class Asked:
    """What is compared. old, new: stores or reports; by default the corpus of the configuration, now and before.

    since: a time.
    asset: whose documents are compared.
    examples: ids of each kind that are named.
    """

    old: Path | None = None
    new: Path | None = None
    since: str | None = None
    asset: str = "normalized_documents"
    examples: int = 5


def run(config: Path | None, asked: Asked, *, as_json: bool, page: Path | None) -> None:
    """Prints what differs, and writes the page that is asked for."""
    found = difference(config, asked)
    if page is not None:
        page.write_text(html(found), encoding="utf-8")
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    _show(found)
    if page is not None:
        print_line(output(), f"the page is {page}")


def difference(config: Path | None, asked: Asked) -> Difference:
    """Returns what differs; `ConfigError` for what cannot be compared."""
    if asked.since is not None and asked.old is not None:
        raise ConfigError("--since compares a corpus with its own past; it takes no other store or report")
    if asked.old is not None:
        new = open_side(asked.new) if asked.new is not None else of_corpus(Corpus.open(config, read_only=True))
        return compared_sides(open_side(asked.old), new, asked.asset, asked.examples)
    return with_its_past(Corpus.open(config, read_only=True), asked.since)


def _show(found: Difference) -> None:
    out = output()
    print_line(out, f"before  {found.old['what']}")
    print_line(out, f"now     {found.new['what']}")
    if found.is_empty:
        print_line(out, "nothing differs")
    for section in sections(found):
        table = Table(title=section.title, title_justify="left")
        for label, kind in section.columns:
            table.add_column(label, justify="left" if kind in ("text", "long") else "right", overflow="fold")
        for row in section.rows[:SHOWN]:
            table.add_row(*map(_cell, row))
        out.print(table)
        if len(section.rows) > SHOWN:
            print_line(out, f"... and {len(section.rows) - SHOWN:,} more; --json has all")
    if found.no_documents:
        print_line(out, f"documents were not compared: {found.no_documents}")


def _cell(value: object) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value).translate(ESCAPES)
