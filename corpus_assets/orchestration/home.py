"""Where Dagster keeps the runs of a corpus: `$DAGSTER_HOME`, or `.dagster_home` in the folder of corpus.yaml."""

import os
from pathlib import Path

FOLDER = ".dagster_home"


def dagster_home(folder: Path) -> Path:
    """Returns the DAGSTER_HOME of a corpus, whether or not it exists. folder: that of corpus.yaml."""
    return Path(os.environ.get("DAGSTER_HOME") or folder / FOLDER).absolute()
