"""Where Dagster keeps the runs of a corpus: `$DAGSTER_HOME`, or `.dagster_home` in the folder of corpus.yaml."""

import os
from pathlib import Path

from corpus_assets.orchestration.home.postgres import VARIABLE

FOLDER = ".dagster_home"
HOME_VARIABLE = "DAGSTER_HOME"


def dagster_home(folder: Path) -> Path:
    """Returns the DAGSTER_HOME of a corpus, whether or not it exists. folder: that of corpus.yaml."""
    return Path(os.environ.get(HOME_VARIABLE) or folder / FOLDER).absolute()


def database(home: Path) -> str:
    """Returns a name for the database that has the runs of a DAGSTER_HOME: it, or Postgres in its place."""
    return f"Postgres of {home}" if os.environ.get(VARIABLE) else str(home)
