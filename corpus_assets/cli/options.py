"""Options that several commands have, and the refusal of those that a command would not read."""

from pathlib import Path
from typing import Annotated

import typer

from resources.errors import ConfigError

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


def reads_only(context: typer.Context, mode: str, *options: str) -> None:
    """Raises `ConfigError` if options of the command line are none of these. mode: why it does not read others."""
    _refuse(mode, [option for option in _given(context) if option not in options])


def does_not_read(context: typer.Context, mode: str, *options: str) -> None:
    """Raises `ConfigError` if one of these options is on the command line. mode: why it does not read them."""
    _refuse(mode, [option for option in _given(context) if option in options])


def _given(context: typer.Context) -> list[str]:
    """Returns the options on the command line, by their long names, in the order of the command's help."""
    names = {one.name: max(one.opts, key=len) for one in context.command.params if one.name}
    found = {name: context.get_parameter_source(name) for name in names}
    return [names[name] for name, source in found.items() if source is not None and source.name == "COMMANDLINE"]


def _refuse(mode: str, options: list[str]) -> None:
    if options:
        it = "it" if len(options) == 1 else "them"
        raise ConfigError(f"{', '.join(options)}: the command does not read {it} {mode}; leave {it} out")
