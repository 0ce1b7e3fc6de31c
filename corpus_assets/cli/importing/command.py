"""Writes or prints an imported corpus.yaml, and says of each parameter what became of it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import typer
import yaml

from corpus_assets.importer.draft import Draft
from corpus_assets.importer.report import report_lines
from resources.errors import ConfigError

Importer = Callable[[Sequence[Path], Path], Draft]


def run(importer: Importer, files: Sequence[Path], output: Path | None, *, force: bool) -> None:
    """Imports files of a tool: writes corpus.yaml to a file or standard output, and the report to standard error."""
    if output is not None and output.exists() and not force:
        raise ConfigError(f"{output} exists; --force replaces it")
    draft = importer(files, output.parent if output else Path())
    text = yaml.safe_dump(draft.values, sort_keys=False, allow_unicode=True, width=120)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        typer.echo(f"{output}: written", err=True)
    for line in report_lines(draft):
        typer.echo(line, err=True)
    named = f" --config {output}" if output and output != Path("corpus.yaml") else ""
    typer.echo(f"then: corpus plan{_selection(draft)}{named}", err=True)


def _selection(draft: Draft) -> str:
    """Returns the option that plans what was imported; empty if that is everything."""
    if draft.values.get("datasets"):
        return ""
    return f" --select +group:{'streams' if 'streams' in draft.values else 'attributes'}"
