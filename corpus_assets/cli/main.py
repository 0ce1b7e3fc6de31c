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

imports = typer.Typer(help="Turn configurations of other systems into a corpus.yaml.", no_args_is_help=True)
app.add_typer(imports, name="import")

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


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"corpus {version('corpus-assets')}")
        raise typer.Exit


@app.callback()
def _corpus(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version  # Its callback has printed it.


@app.command()
def plan(
    config: ConfigOption = None,
    select: SelectOption = None,
    *,
    as_json: JsonOption = False,
    check: Annotated[bool, typer.Option("--check", help="Exit with 3 when not all is fresh, as --json does.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List fresh partitions too.")] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="What if: KEY=VALUE in the configuration, such as split.holdout=0.05."),
    ] = None,
) -> None:
    """Say which partitions are not fresh, and why. Changes nothing."""
    from corpus_assets.cli.plan import run

    raise typer.Exit(run(config, select, changes or [], as_json=as_json, check=check, every=every))


@app.command()
def build(
    config: ConfigOption = None,
    select: SelectOption = None,
    as_json: JsonOption = False,
    checks: Annotated[bool, typer.Option(help="Run the asset checks of what was rebuilt.")] = True,
    rehash: Annotated[
        bool, typer.Option("--rehash", help="Read all raw files again, whatever their sizes and times say.")
    ] = False,
    *,
    events: Annotated[
        bool, typer.Option("--events", help="A JSON object per event while it runs; the last one is that of --json.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only failures and the last line.")] = False,
    log_level: Annotated[
        str, typer.Option(help="Least that the log of the build holds: debug, info, warning or error.")
    ] = "info",
    sample: Annotated[
        str | None, typer.Option(help="Build a sample of the raw rows, such as 1%, in a folder of its own.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Build a sample of so many raw rows of each source.", min=1)] = None,
    root: Annotated[
        Path | None, typer.Option(help="Folder of the sample; by default beside the store, named after the sample.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Another seed gives another sample.", min=0)] = 0,
) -> None:
    """Bring everything, or the selected assets, up to date; what is fresh is left alone."""
    from corpus_assets.cli.build import Said, run

    if sample is not None or limit is not None or root is not None:
        from corpus_assets.cli.sampling import sample_config

        config = sample_config(config, sample, limit, root, seed, quiet=quiet)
    said = Said(as_json=as_json, events=events, quiet=quiet, log_level=log_level)
    raise typer.Exit(run(config, select, said, checks=checks, rehash=rehash))


@app.command()
def estimate(
    config: ConfigOption = None,
    as_json: JsonOption = False,
    seconds: Annotated[float, typer.Option(help="About how long it may take.", min=5)] = 60,
    core_hour: Annotated[float | None, typer.Option(help="Price of an hour of one core.", min=0)] = None,
    gb_month: Annotated[float | None, typer.Option(help="Price of a gigabyte on disk for a month.", min=0)] = None,
) -> None:
    """Say what the whole build will give and cost, from samples that are really built elsewhere. Changes nothing."""
    from corpus_assets.cli.estimate import Prices, run

    run(config, seconds, Prices(core_hour, gb_month), as_json=as_json)


@app.command()
def verify(
    config: ConfigOption = None,
    as_json: JsonOption = False,
    deep: Annotated[bool, typer.Option("--deep", help="Read every byte again and compare digests.")] = False,
    mend: Annotated[
        bool, typer.Option("--mend", help="Remove the records of what is bad; a build remakes it.")
    ] = False,
    absent: Annotated[
        list[Path] | None,
        typer.Option("--absent", help="Prove instead that nothing holds a document that this list names."),
    ] = None,
) -> None:
    """Compare the ledger with the files: presence and size, with --deep the content too."""
    if absent:
        from corpus_assets.cli.absent import run as prove

        raise typer.Exit(prove(config, absent, as_json=as_json))
    from corpus_assets.cli.verify import run

    raise typer.Exit(run(config, as_json=as_json, deep=deep, mend=mend))


@app.command()
def show(
    asset: str,
    partition: Annotated[str | None, typer.Argument()] = None,
    config: ConfigOption = None,
    *,
    rows: Annotated[int, typer.Option(help="How many rows to show.", min=0)] = 3,
    document_id: Annotated[str | None, typer.Option("--id", help="Only rows with this id.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with KEY=VALUE; metadata.KEY looks inside. With several, all must hold."),
    ] = None,
) -> None:
    """Show a partition: its commit record and its first rows."""
    from corpus_assets.cli.show import run
    from corpus_assets.cli.wanted import wanted

    run(config, asset, partition, rows, wanted(document_id, where or []))


@app.command()
def packing(
    dataset: str,
    config: ConfigOption = None,
    *,
    length: Annotated[
        int | None, typer.Option(help="Ids of a row; by default the dataset's sequence_length.", min=1, max=2**20)
    ] = None,
    depth: Annotated[
        int | None, typer.Option(help="Most sequences in a row; by default the dataset's packing_depth.", min=1)
    ] = None,
    long_documents: Annotated[
        str | None,
        typer.Option(
            "--long", help="Documents longer than a row: fold, cut or drop; by default as the dataset does, else fold."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Only these methods; a comma separates names too. By default all.")
    ] = None,
    as_json: JsonOption = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the table into this .svg or .png file.")] = None,
) -> None:
    """Compare methods of packing on the lengths of a dataset's documents."""
    from corpus_assets.cli.packing import Asked, run

    names = [name for entry in methods or [] for name in entry.split(",") if name]
    run(config, Asked(dataset, length, depth, long_documents, names), as_json=as_json, plot=plot)


@app.command()
def trace(
    dataset: str,
    file: Annotated[str, typer.Argument(help="A file of the dataset, by its name or path.")],
    row: Annotated[int, typer.Argument(help="Row, window or document of the file, from 0.", min=0)],
    position: Annotated[int, typer.Argument(help="Id in it, from 0.", min=0)] = 0,
    config: ConfigOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Say which document a token comes from: source, id, raw file and row, and the text around it."""
    from corpus_assets.cli.trace import run

    run(config, dataset, file, (row, position), as_json=as_json)


@app.command()
def why(
    what: Annotated[
        str,
        typer.Argument(help="An id, or the SHA-256 of a text; with a row a raw file, or a file of a dataset."),
    ],
    row: Annotated[
        int | None, typer.Argument(help="Row of the raw file, or of the dataset's file, from 0.", min=0)
    ] = None,
    config: ConfigOption = None,
    *,
    source: Annotated[str | None, typer.Option(help="Only documents of this source.")] = None,
    dataset: Annotated[str | None, typer.Option(help="The dataset that the file belongs to.")] = None,
    position: Annotated[int, typer.Option(help="Id in that row, from 0.", min=0)] = 0,
    seconds: Annotated[
        float, typer.Option(help="Time for searching rows of HDF5, which hold no way back; 0 leaves them.", min=0)
    ] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Say where a document went, stage by stage: what dropped it, or which token files hold it."""
    from corpus_assets.cli.why import Asked, run

    run(config, Asked(what, row, source, dataset, position, seconds), as_json=as_json)


@app.command()
def diff(
    old: Annotated[
        Path | None, typer.Argument(help="A store, a corpus.yaml or a kept report; by default the build before.")
    ] = None,
    new: Annotated[Path | None, typer.Argument(help="The same; by default the corpus as it is now.")] = None,
    config: ConfigOption = None,
    *,
    since: Annotated[
        str | None, typer.Option(help="Compare with what the last build up to that day or time (UTC) left.")
    ] = None,
    asset: Annotated[str, typer.Option(help="Whose documents are compared.")] = "normalized_documents",
    examples: Annotated[int, typer.Option(help="Ids of each kind that are named.", min=0, max=1000)] = 5,
    as_json: JsonOption = False,
    page: Annotated[Path | None, typer.Option("--html", help="Write a page that needs no other file.")] = None,
) -> None:
    """Say what differs between two stores, a store and a report, or a corpus and its build before."""
    from corpus_assets.cli.diff import Asked, run

    run(config, Asked(old, new, since, asset, examples), as_json=as_json, page=page)


@app.command()
def tokens(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Count tokens per source, split and dataset, from the commit records alone."""
    from corpus_assets.cli.tokens import run

    run(config, as_json=as_json)


@app.command()
def clean(
    config: ConfigOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Remove them even if the folder of a source lost most of its files.")
    ] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Only make the store this configuration's own; remove nothing.")
    ] = False,
) -> None:
    """Remove orphans (partitions whose raw file, band, chunk or asset is gone) and files that no partition owns."""
    from corpus_assets.cli.clean import run

    run(config, dry_run=dry_run, force=force, taking_over=take_over)


@app.command()
def copy(
    root: Annotated[str, typer.Argument(metavar="OTHER_ROOT", help="Where to, as `storage.root` would say it.")],
    config: ConfigOption = None,
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Copy only these assets; also group:NAME, +asset and asset+."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", help="KEY=VALUE that holds for the store of the copy, such as storage.sync=false."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="How many partitions are copied at a time.", min=1, max=64)] = 4,
    as_json: JsonOption = False,
) -> None:
    """Copy the corpus to another store, and check every file on the way; one that was stopped goes on where it was."""
    from corpus_assets.cli.copy import run

    raise typer.Exit(run(config, root, only, changes or [], jobs, as_json=as_json))


@app.command("check-windows")
def check_windows(
    files: Annotated[list[Path], typer.Argument(help="Files with windows: .jsonl or .jsonl.gz.")],
    length: Annotated[int, typer.Option(help="Ids that each window must have.", min=1)] = 2049,
    vocabulary: Annotated[
        int | None, typer.Option(help="Size of the vocabulary: ids from this one on are bad.", min=1)
    ] = None,
    with_source: Annotated[bool, typer.Option("--with-source", help="Lines without a source are bad too.")] = False,
) -> None:
    """Check files of windows as `format: amber` writes them, line by line; exit with 1 if any line is bad."""
    from corpus_assets.cli.check_windows import run
    from corpus_assets.export.amber.check import Rule

    raise typer.Exit(run(files, Rule(length, vocabulary, with_source)))


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


@imports.command("dolma")
def import_dolma(
    configs: Annotated[list[Path], typer.Argument(help="Configurations of dolma tag, dedupe or mix.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The corpus.yaml to write; by default standard output.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Turn configurations of the Dolma toolkit into one corpus.yaml, and say what could not be taken over."""
    from corpus_assets.cli.import_dolma import run

    run(configs, output, force=force)


@app.command()
def doctor(config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Say whether this machine can build the corpus, what the first build will cost, and what to do."""
    from corpus_assets.cli.doctor import run

    raise typer.Exit(run(config, as_json=as_json))


@app.command()
def view(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3001,
) -> None:
    """Show the corpus in a browser: documents, duplicates, token rows, the plan. Reads only, and needs no Dagster."""
    from corpus_assets.cli.view import run

    run(config, host, port)


@app.command()
def ui(
    config: ConfigOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3000,
) -> None:
    """Open the Dagster web UI on this corpus, with the pages of `corpus view` in it at /corpus/."""
    from corpus_assets.cli.console import warn_of_open_door
    from corpus_assets.corpus import Corpus
    from corpus_assets.orchestration.instance import serve

    warn_of_open_door(host)
    serve(Corpus.open(config), config, host, port)


def main() -> None:
    """Runs the command; prints errors that are meant for a person without a traceback, and sets the exit code."""
    from corpus_assets.cli.console import FAILED, INTERRUPTED, USAGE, errors, print_line
    from resources.collector import calm_collector

    calm_collector()
    try:
        app()
    except ConfigError as error:
        print_line(errors(), str(error))
        sys.exit(USAGE)
    except (KeyboardInterrupt, SystemExit) as leaving:
        # Typer makes an exit code of Ctrl-C, and says nothing.
        if isinstance(leaving, SystemExit) and leaving.code != INTERRUPTED:
            raise
        print_line(errors(), "interrupted; finished partitions are kept, and the next build continues from there")
        sys.exit(INTERRUPTED)
    except (CorpusError, OSError) as error:
        print_line(errors(), str(error))
        sys.exit(FAILED)
