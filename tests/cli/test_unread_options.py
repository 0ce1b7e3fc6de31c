"""An option that a command would not read is refused: nothing that a person asked for is left out in silence."""

import pytest
from typer.testing import CliRunner

from corpus_assets.cli.main import app
from resources.errors import ConfigError

UNREAD = {
    "build --seed 3": "--seed: the command does not read it without --sample or --limit; leave it out",
    "build --root elsewhere --seed 0": "--root, --seed: the command does not read them without --sample or --limit",
    "verify --absent list.txt --deep --mend": "--deep, --mend: the command does not read them with --absent",
    "verify --absent list.txt --budget 1m": "--budget: the command does not read it with --absent",
    "clean --take-over --dry-run": "--dry-run: the command does not read it with --take-over",
    "estimate --add web=raw/web --core-hour 1": "--core-hour: the command does not read it with --add",
    "audit dedup --read README.md --size 3 -o new": "--size, --output: the command does not read them with --read",
    "trace train one.h5 0 --rank 1 --text": "--rank, --text: the command does not read them without --step",
    "why some-id --position 4": "--position: the command does not read it without --dataset",
    "why one.h5 3 --dataset train --source books": "--source: the command does not read it with --dataset",
    "show train chunk-0000 --row 1 --rows 2": "--rows: the command does not read it with --row",
}


@pytest.mark.parametrize("line", UNREAD)
def test_an_option_that_would_not_be_read_is_refused(line: str) -> None:
    error = CliRunner().invoke(app, line.split()).exception
    assert isinstance(error, ConfigError)
    assert str(error).startswith(UNREAD[line])
