"""Arguments of `corpus audit`."""

from pathlib import Path
from typing import Annotated

import typer

from corpus_assets.cli.options import ConfigOption, JsonOption, reads_only

audits = typer.Typer(help="Let people judge a sample of what a build did.", no_args_is_help=True)


@audits.callback()
def _audit() -> None:
    """A callback, so that the only command keeps its name."""


@audits.command("dedup")
def audit_dedup(
    context: typer.Context,
    config: ConfigOption = None,
    *,
    size: Annotated[
        int, typer.Option("--size", help="Removed documents of each source and band of similarity.", min=1, max=1000)
    ] = 10,
    seed: Annotated[int, typer.Option(help="Another seed draws others.", min=0)] = 0,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for sheet.csv and sheet.html.", file_okay=False)
    ] = Path("audit"),
    force: Annotated[bool, typer.Option("--force", help="Replace a sheet that is there.")] = False,
    read: Annotated[
        Path | None,
        typer.Option(help="Read the judgements in this sheet, instead of drawing one.", exists=True, dir_okay=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Draw removed documents to judge, each beside the one kept; or read judgements, and say how many were wrong."""
    from corpus_assets.cli.auditing.command import draw, judged

    if read is not None:
        reads_only(context, "with --read", "--read", "--config", "--json")
        judged(config, read, as_json=as_json)
    else:
        draw(config, size, seed, output, force=force, as_json=as_json)
