"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The corpus.yaml; default $CORPUS_CONFIG, else ./corpus.yaml."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", help="KEY=VALUE over what the configuration says, for this command: split.holdout=0.05. Repeatable."
    ),
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        help="Asset, group:NAME, +asset (with what it reads) or asset+ (with what reads it).",
    ),
]
