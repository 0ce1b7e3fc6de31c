"""Arguments of the commands that publish a corpus on the Hugging Face hub, and pull a dataset from there."""

from pathlib import Path
from typing import Annotated

import typer

from corpus_assets.cli.options import ConfigOption, JsonOption

_Address = Annotated[str, typer.Argument(metavar="hf://ORG/NAME", help="With or without @BRANCH; the default is main.")]


def publish(
    address: _Address,
    config: ConfigOption = None,
    *,
    dataset: Annotated[
        str | None,
        typer.Option(help="Publish the files of this dataset as they lie, not the documents of the splits."),
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the repository, private, if there is none of this name.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also replace files there that others wrote or changed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Publish the corpus on the Hugging Face hub: what changed is sent, and appears in one commit."""
    from corpus_assets.cli.hub.publish import run

    run(config, address, dataset, create=create, replace=replace, as_json=as_json)


def pull(
    address: Annotated[
        str, typer.Argument(metavar="hf://ORG/NAME", help="With or without @REVISION: a branch, a tag or a commit.")
    ],
    folder: Annotated[Path, typer.Argument(help="Where to: absent, empty, or of an earlier pull.")],
    as_json: JsonOption = False,
) -> None:
    """Pull a dataset of the Hugging Face hub into a folder, comparing every file with its digest.

    An interrupted pull goes on where it was.
    """
    from corpus_assets.cli.hub.pull import run

    run(address, folder, as_json=as_json)
