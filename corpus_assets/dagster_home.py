"""Which Dagster instance the project uses: `$DAGSTER_HOME`, or `.dagster_home` beside corpus.yaml."""

import os
import shutil
import sys
from pathlib import Path

import dagster as dg

from corpus_assets.corpus import CONFIG_VARIABLE, Corpus
from corpus_assets.stage import register_shards

FOLDER = ".dagster_home"


def prepare(folder: Path) -> Path:
    """Make sure there is a DAGSTER_HOME, with the project's dagster.yaml in it, and return it."""
    home = Path(os.environ.get("DAGSTER_HOME") or folder / FOLDER)
    home.mkdir(parents=True, exist_ok=True)
    settings = folder / "dagster.yaml"
    if settings.is_file() and not (home / "dagster.yaml").exists():
        shutil.copyfile(settings, home / "dagster.yaml")
    os.environ["DAGSTER_HOME"] = str(home.absolute())
    return home


def project_instance(folder: Path) -> dg.DagsterInstance:
    """The instance that records runs and that the web UI shows."""
    prepare(folder)
    return dg.DagsterInstance.get()


def serve(corpus: Corpus, config: Path | None, host: str, port: int) -> None:
    """Become `dagster dev` on this corpus; its shard partitions are registered first."""
    prepare(corpus.folder)
    if config is not None:
        os.environ[CONFIG_VARIABLE] = str(config.absolute())
    with dg.DagsterInstance.get() as found:
        register_shards(corpus, found)
    command = ["dagster", "dev", "-m", "corpus_assets.definitions", "-h", host, "-p", str(port)]
    os.execv(sys.executable, [sys.executable, "-m", *command])
