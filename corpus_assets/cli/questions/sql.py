"""`corpus sql`: a SELECT over records, documents and attributes."""

from itertools import islice
from pathlib import Path
from typing import Any

from rich.table import Table as Shown

from corpus_assets.cli.console import output, print_json, print_line
from corpus_assets.cli.questions.why import ESCAPES
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.sql.asking import asked
from corpus_assets.sql.tables import tables_of
from corpus_assets.tracing.look import Look

_WIDTH = 200


def run(config: Path | None, query: str | None, *, limit: int, as_json: bool) -> None:
    """Prints the rows of a query, or without one the tables with their columns. limit: most rows."""
    tables = tables_of(Look(Corpus.open(config, read_only=True)))
    if query is None:
        if as_json:
            print_json(
                {
                    "tables": {
                        name: {column: str(kind) for column, kind in table.columns.items()}
                        for name, table in tables.items()
                    }
                }
            )
            return
        for name, table in tables.items():
            print_line(output(), f"{name}: {', '.join(f'{column} {kind}' for column, kind in table.columns.items())}")
        return
    with asked(tables, query) as result:
        names = [column[0] for column in result.description]
        rows = list(islice(iter(result.fetchone, None), limit + 1))
    more = len(rows) > limit
    if as_json:
        held = [dict(zip(names, map(_plain, row), strict=True)) for row in rows[:limit]]
        print_json({"rows": held, "more": more})
        return
    shown = Shown()
    for name in names:
        shown.add_column(name.translate(ESCAPES), overflow="fold")
    for row in rows[:limit]:
        shown.add_row(*map(_cell, row))
    output().print(shown)
    if more:
        print_line(output(), f"the first {limit:,} rows; --limit shows more")


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def _cell(value: Any) -> str:
    text = "-" if value is None else f"{value:,}" if type(value) is int else str(value)
    return (text if len(text) <= _WIDTH else f"{text[:_WIDTH]} …").translate(ESCAPES)
