"""Where Dagster keeps the runs of a corpus: `$DAGSTER_HOME`, or `.dagster_home` in the folder of corpus.yaml."""

import os
from pathlib import Path

from corpus_assets.orchestration.postgres import VARIABLE

FOLDER = ".dagster_home"
HOME_VARIABLE = "DAGSTER_HOME"
_told = {"home": ""}
"""The folder that this process itself named to its children: it says nothing about another corpus."""


def dagster_home(folder: Path) -> Path:
    """Returns the DAGSTER_HOME of a corpus, whether or not it exists. folder: that of corpus.yaml."""
    return Path(named_home() or folder / FOLDER).absolute()


def named_home() -> str:
    """Returns the variable as whoever started this process set it; nothing if this process did, for a corpus."""
    named = os.environ.get(HOME_VARIABLE, "")
    return "" if named == _told["home"] else named


def tell_children(home: Path) -> None:
    """Sets the variable, for Dagster and for the processes that this one starts."""
    if not named_home():
        _told["home"] = str(home)
    os.environ[HOME_VARIABLE] = str(home)


def database(home: Path) -> str:
    """Returns a name for the database that has the runs of a DAGSTER_HOME: it, or Postgres in its place."""
    return f"Postgres of {home}" if os.environ.get(VARIABLE) else str(home)
