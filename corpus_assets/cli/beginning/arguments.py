"""The arguments of `corpus init`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class For(StrEnum):
    """The trainers that datasets are written for."""

    MEGATRON = "megatron"
    HF = "hf"
    CEREBRAS = "cerebras"
    OLMO = "olmo"
    LITGPT = "litgpt"
    TRL = "trl"


def init(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PLACE", help="Raw files: a folder or file, s3://bucket/prefix, hf://datasets/org/name, https://..."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The corpus.yaml to write.")] = Path("corpus.yaml"),
    trainer: Annotated[
        For | None, typer.Option("--for", help="The trainer that reads the datasets; without one they hold texts.")
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(help="Its tokenizer: a tokenizer.json, a folder, a .model, or a name on the hub."),
    ] = None,
    *,
    files: Annotated[
        int | None,
        typer.Option(help="Most files to look into; by default 200, or 50 that are elsewhere.", min=1, max=10_000),
    ] = None,
    access: Annotated[
        list[str] | None,
        typer.Option("--access", help="KEY=VALUE of the section `s3`, such as endpoint=https://s3.example.org."),
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", "--dry-run", help="Print it on standard output, and write nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a corpus.yaml for raw files, from a look at some of them.

    It looks into a limited number of files and reads the first rows of each, so it takes seconds whatever their size.
    What it cannot read it names, with the reason.
    """
    from corpus_assets.cli.beginning.command import Asked, run

    asked = Asked(place, output, trainer.value if trainer else None, tokenizer, files, access or [])
    run(asked, only_print=only_print, force=force)
