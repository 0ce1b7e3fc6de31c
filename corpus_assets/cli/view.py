"""`corpus view`: the viewer without Dagster."""

from pathlib import Path

from corpus_assets.addresses import address, require_free
from corpus_assets.cli.console import errors, print_line, warn_of_open_door
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.viewer.alone import serve


def run(config: Path | None, host: str, port: int) -> None:
    """Serves the corpus until Ctrl-C."""
    file = Corpus.open(config, read_only=True).file
    require_free(host, port)
    warn_of_open_door(host, runs=False)
    print_line(errors(), f"the corpus:  {address(host, port)}/corpus/   (Ctrl-C stops it)")
    serve(file, host, port)
