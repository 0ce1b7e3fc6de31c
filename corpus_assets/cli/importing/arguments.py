"""Arguments of `corpus import`."""

from pathlib import Path
from typing import Annotated

import typer

imports = typer.Typer(
    help="Turn configurations and command lines of other tools into a corpus.yaml.", no_args_is_help=True
)

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The corpus.yaml to write; by default standard output.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


@imports.command("dolma")
def import_dolma(
    files: Annotated[
        list[Path],
        typer.Argument(help="Configurations of dolma tag, dedupe, mix or tokens, or files with shell lines."),
    ],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Convert configurations and command lines of the Dolma toolkit to one corpus.yaml; say what became of each key."""
    from corpus_assets.cli.importing.command import run
    from corpus_assets.importer.dolma.configs import import_dolma

    run(import_dolma, files, output, force=force)


@imports.command("amber")
def import_amber(
    files: Annotated[list[Path], typer.Argument(help="Shell scripts or pages with lines of amber-data-prep.")],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Convert command lines of LLM360's amber-data-prep to a corpus.yaml; say what became of each parameter."""
    from corpus_assets.cli.importing.command import run
    from corpus_assets.importer.amber import import_amber

    run(import_amber, files, output, force=force)


@imports.command("slimpajama")
def import_slimpajama(
    files: Annotated[list[Path], typer.Argument(help="Shell scripts or pages with lines of SlimPajama.")],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Convert command lines of SlimPajama to a corpus.yaml; say what became of each parameter."""
    from corpus_assets.cli.importing.command import run
    from corpus_assets.importer.slimpajama import import_slimpajama

    run(import_slimpajama, files, output, force=force)


@imports.command("cerebras")
def import_cerebras(
    files: Annotated[
        list[Path], typer.Argument(help="YAML files of Model Zoo's preprocessing, or files with its shell lines.")
    ],
    output: Output = None,
    *,
    mode: Annotated[
        str | None, typer.Option(help="What Cerebras calls the mode, such as LMData_VSL, if no key of a file says it.")
    ] = None,
    force: Force = False,
) -> None:
    """Convert configurations of Cerebras' Model Zoo to datasets; say what became of each parameter."""
    from functools import partial

    from corpus_assets.cli.importing.command import run
    from corpus_assets.importer.cerebras.datasets import import_cerebras

    run(partial(import_cerebras, mode=mode), files, output, force=force)


@imports.command("datatrove")
def import_datatrove(
    files: Annotated[list[Path], typer.Argument(help="Python scripts with pipelines; they are parsed and never run.")],
    output: Output = None,
    *,
    force: Force = False,
) -> None:
    """Convert the blocks of datatrove scripts to a corpus.yaml; say what became of each parameter."""
    from corpus_assets.cli.importing.command import run
    from corpus_assets.importer.datatrove.pipelines import import_datatrove

    run(import_datatrove, files, output, force=force)
