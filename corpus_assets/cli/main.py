"""The `corpus` command: its arguments. Each command loads what it needs when it runs.

Exit codes: 0 all is well; 1 something failed; 2 the command or configuration is wrong; 3 `plan` with --check or --json
found something not fresh; 130 interrupted.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from resources.errors import ConfigError, CorpusError

app = typer.Typer(
    name="corpus",
    help="Prepare LLM training corpora: see what is stale and why, rebuild just that, verify what is there.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The corpus.yaml; default $CORPUS_CONFIG, else ./corpus.yaml."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        "-s",
        help="Asset, group:NAME, +asset (with what it reads) or asset+ (with what reads it).",
    ),
]


@app.command()
def plan(
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 3 when not all is fresh, as --json does.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List fresh partitions too.")] = False,
) -> None:
    """Say which partitions are not fresh, and why. Changes nothing."""
    from corpus_assets.cli.plan import run

    raise typer.Exit(run(config, select, as_json=as_json, check=check, every=every))


@app.command()
def build(
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    checks: Annotated[bool, typer.Option(help="Run the asset checks of what was rebuilt.")] = True,
) -> None:
    """Bring everything, or the selected assets, up to date; what is fresh is left alone."""
    from corpus_assets.cli.build import run

    raise typer.Exit(run(config, select, as_json=as_json, checks=checks))


@app.command()
def verify(
    config: ConfigOption = None,
    as_json: JsonOption = False,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte again and compare digests.")] = False,
) -> None:
    """Compare the ledger with the files: presence and size, with --deep the content too."""
    from corpus_assets.cli.verify import run

    raise typer.Exit(run(config, as_json=as_json, deep=deep))


@app.command()
def show(
    asset: str,
    partition: Annotated[str | None, typer.Argument()] = None,
    config: ConfigOption = None,
    rows: Annotated[int, typer.Option(help="How many rows to show.", min=0, max=1000)] = 3,
) -> None:
    """Show a partition: its commit record and its first rows."""
    from corpus_assets.cli.show import run

    run(config, asset, partition, rows)


@app.command()
def clean(
    config: ConfigOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
) -> None:
    """Remove orphans (partitions whose raw file, band, chunk or asset is gone) and abandoned temporary files."""
    from corpus_assets.cli.clean import run

    run(config, dry_run=dry_run)


@app.command()
def sample(
    folder: Annotated[Path, typer.Argument(help="Where to write it.")],
    megabytes: Annotated[float, typer.Option(help="Text to make, in MB.")] = 24,
) -> None:
    """Write the sample corpus: raw shards made from what this Python installation holds."""
    from corpus_assets.raw.sample import write_sample

    summary = write_sample(folder, megabytes=megabytes)
    size = summary.text_bytes / 1e6
    typer.echo(f"{folder}: {summary.documents:,} documents, {size:.1f} MB of text, {summary.shards} shards")


@app.command()
def ui(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3000,
) -> None:
    """Open the Dagster web UI on this corpus."""
    from corpus_assets.corpus import Corpus
    from corpus_assets.orchestration.instance import serve

    serve(Corpus.open(config), config, host, port)


def main() -> None:
    """Runs the command; prints errors that are meant for a person without a traceback, and sets the exit code."""
    from corpus_assets.cli.console import FAILED, INTERRUPTED, USAGE, errors

    try:
        app()
    except ConfigError as error:
        errors().print(str(error), markup=False, highlight=False)
        sys.exit(USAGE)
    except KeyboardInterrupt:
        errors().print("interrupted; finished partitions are kept, and the next build continues from there")
        sys.exit(INTERRUPTED)
    except (CorpusError, OSError) as error:
        errors().print(str(error), markup=False, highlight=False)
        sys.exit(FAILED)
