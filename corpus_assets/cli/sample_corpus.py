"""`corpus sample`: raw files to try things on, and a corpus.yaml over them where there is none."""

import os
import re
from pathlib import Path

import typer
import yaml

from corpus_assets.cli.pages import top
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from corpus_assets.raw.sample.writing import write_sample

CONFIG = Path("corpus.yaml")
_LOCATION = re.compile(r"(?<=location: )data/raw(/\w+)")


def run(folder: Path, megabytes: float) -> None:
    """Writes the raw files, and a configuration unless there is one already or the environment names another."""
    summary = write_sample(folder, megabytes=megabytes)
    size = summary.text_bytes / 1e6
    typer.echo(f"{folder}: {summary.documents:,} documents, {size:.1f} MB of text, {summary.shards} shards")
    if not (os.environ.get(CONFIG_VARIABLE) or os.path.lexists(CONFIG)):
        CONFIG.write_text(sample_config(folder), encoding="utf-8")
        typer.echo(f"{CONFIG}: written; `corpus build` makes the corpus that it describes")


def sample_config(folder: Path) -> str:
    """Returns the project's own corpus.yaml, over the sample in this folder."""
    text = (top() / CONFIG).read_text(encoding="utf-8")
    return _LOCATION.sub(lambda found: _scalar(f"{folder.as_posix()}{found[1]}"), text)


def _scalar(text: str) -> str:
    """Returns a text as a value of YAML, in quotes if it needs some."""
    return yaml.safe_dump(text, width=float("inf"), allow_unicode=True).partition("\n")[0]
