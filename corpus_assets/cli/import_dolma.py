"""`corpus import dolma`: a corpus.yaml from configurations of the Dolma toolkit."""

from collections.abc import Sequence
from pathlib import Path

import typer
import yaml

from corpus_assets.importer.dolma import import_dolma
from resources.errors import ConfigError


def run(files: Sequence[Path], output: Path | None, *, force: bool) -> None:
    """Writes the corpus.yaml, or prints it, and says on standard error what was not taken over."""
    if output is not None and output.exists() and not force:
        raise ConfigError(f"{output} exists; --force replaces it")
    draft = import_dolma(files, output.parent if output else Path())
    text = yaml.safe_dump(draft.values, sort_keys=False, allow_unicode=True, width=120)
    if output is None:
        typer.echo(text, nl=False)
    else:
        output.write_text(text, encoding="utf-8")
        typer.echo(f"{output}: written", err=True)
    for key, why in draft.left_out.items():
        typer.echo(f"not taken over: {key}: {why}", err=True)
    for step in draft.to_do:
        typer.echo(f"to do: {step}", err=True)
    group = "streams" if "streams" in draft.values else "attributes"
    typer.echo(f"then: corpus plan --select +group:{group}", err=True)
