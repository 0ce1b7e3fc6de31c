"""Arguments of the commands that answer questions about a built corpus."""

from pathlib import Path
from typing import Annotated

import typer

from corpus_assets.cli.options import ConfigOption, JsonOption, does_not_read
from resources.errors import ConfigError


def show(
    context: typer.Context,
    asset: str,
    partition: Annotated[str | None, typer.Argument()] = None,
    config: ConfigOption = None,
    *,
    rows: Annotated[int, typer.Option(help="How many rows to show.", min=0)] = 3,
    document_id: Annotated[
        str | None, typer.Option("--id", help="Only rows of this document: its id, or SOURCE/ID.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="Only rows with KEY=VALUE; metadata.KEY looks inside. With several, all must hold."),
    ] = None,
    row: Annotated[
        list[str] | None,
        typer.Option(help="Instead, this row, or a range N-M with its last row; rows count from 0. May be repeated."),
    ] = None,
    record: Annotated[
        bool | None,
        typer.Option(
            help="Print the commit record after the rows; by default it is printed before them, or not at all if "
            "rows are chosen."
        ),
    ] = None,
) -> None:
    """Show a partition: chosen rows, or its commit record and first rows."""
    if row:
        does_not_read(context, "with --row", "--rows")
    from corpus_assets.cli.questions.given_rows import given
    from corpus_assets.cli.questions.show import Asked, run
    from corpus_assets.cli.questions.wanted import wanted

    run(config, asset, partition, Asked(rows, wanted(document_id, where or []), given(row or []), record))


def classifier(
    name: Annotated[str, typer.Argument(help="One of `classifiers` in corpus.yaml.")],
    config: ConfigOption = None,
    *,
    to: Annotated[
        Path | None, typer.Option(help="Also write it into this file, for `model` of another corpus.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what a learned filter is worth on held-out examples, and export it."""
    from corpus_assets.cli.questions.classifier import run

    run(config, name, to, force=force, as_json=as_json)


def packing(
    dataset: Annotated[str, typer.Argument(help="A dataset, or the path of a .len.npy of anybody.")],
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
            "--long", help="Documents longer than a row: fold, cut or drop; by default as in the dataset, else fold."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Only these methods; a comma separates names too. By default all.")
    ] = None,
    as_json: JsonOption = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the table into this .svg or .png file.")] = None,
) -> None:
    """Compare methods of packing on the lengths of a dataset's documents, or of those in a `.len.npy`."""
    from corpus_assets.cli.questions.packing import Asked, run

    names = [name for entry in methods or [] for name in entry.split(",") if name]
    run(config, Asked(dataset, length, depth, long_documents, names), as_json=as_json, plot=plot)


_OF_A_STEP = [
    "--length",
    "--batch-size",
    "--seed",
    "--not-shared",
    "--ranks",
    "--rank",
    "--window",
    "--state",
    "--text",
]
"""Options of `corpus trace` about a step of a training run."""


def trace(
    context: typer.Context,
    dataset: Annotated[str, typer.Argument(help="A dataset; with --step, a token stream.")],
    file: Annotated[str | None, typer.Argument(help="A file of the dataset, by its name or path.")] = None,
    row: Annotated[int | None, typer.Argument(help="Row, window or document of the file, from 0.", min=0)] = None,
    position: Annotated[int, typer.Argument(help="Id in it, from 0.", min=0)] = 0,
    *,
    config: ConfigOption = None,
    step: Annotated[
        int | None,
        typer.Option(help="Instead, the documents of this step of a WindowStream, from 0; with --state, after it."),
    ] = None,
    length: Annotated[int | None, typer.Option(help="Of its windows: the ids of each, less one.", min=1)] = None,
    batch_size: Annotated[int, typer.Option(help="Its windows in a batch of all ranks.", min=1)] = 1,
    seed: Annotated[int | None, typer.Option(help="Its seed; by default 0.", min=0)] = None,
    not_shared: Annotated[bool, typer.Option("--not-shared", help="Its windows were made with shared=False.")] = False,
    ranks: Annotated[int, typer.Option(help="Its ranks.", min=1)] = 1,
    rank: Annotated[int | None, typer.Option(help="Only the windows of this rank, from 0.", min=0)] = None,
    window: Annotated[int | None, typer.Option(help="Only this window of each rank, from 0.", min=0)] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Its state_dict as JSON, which says length, seed and where the run stood; step -1 is its last."
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Show the text of the ids too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Find the document of a token, or the documents of a training step: source, id, raw file and row, and the text."""
    if step is not None:
        from corpus_assets.cli.questions.trace_step import Asked
        from corpus_assets.cli.questions.trace_step import run as run_step

        if file is not None:
            raise ConfigError("--step goes with a token stream alone; leave out the file and the row")
        shared = False if not_shared else None
        asked = Asked(dataset, step, length, batch_size, seed, shared, ranks, rank, window, state, text)
        run_step(config, asked, as_json=as_json)
        return
    if file is None or row is None:
        raise ConfigError("received neither a file and a row, nor --step; valid: DATASET FILE ROW, or STREAM --step N")
    does_not_read(context, "without --step", *_OF_A_STEP)
    from corpus_assets.cli.questions.trace import run

    run(config, dataset, file, (row, position), as_json=as_json)


def why(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            help="A document: its id, SOURCE/ID, URL, or the SHA-256 of its text; with a row a raw file, or a file of "
            "a dataset."
        ),
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
        float,
        typer.Option(
            help="Seconds for searching rows of HDF5, which do not record their documents; 0 skips them.", min=0
        ),
    ] = 10.0,
    as_json: JsonOption = False,
) -> None:
    """Follow a document stage by stage: what dropped it, or which token files hold it."""
    if dataset is None:
        does_not_read(context, "without --dataset", "--position")
    else:
        does_not_read(context, "with --dataset", "--source")
    from corpus_assets.cli.questions.why import Asked, run

    run(config, Asked(what, row, source, dataset, position, seconds), as_json=as_json)


def diff(
    old: Annotated[
        Path | None, typer.Argument(help="A store, a corpus.yaml or a kept report; by default the build before.")
    ] = None,
    new: Annotated[Path | None, typer.Argument(help="The same; by default the corpus as it is now.")] = None,
    config: ConfigOption = None,
    *,
    since: Annotated[
        str | None, typer.Option(help="Compare with the state after the last build up to that day or time (UTC).")
    ] = None,
    asset: Annotated[str, typer.Option(help="Whose documents are compared.")] = "normalized_documents",
    examples: Annotated[int, typer.Option(help="How many ids of each kind to list.", min=0, max=1000)] = 5,
    as_json: JsonOption = False,
    page: Annotated[Path | None, typer.Option("--html", help="Write a self-contained HTML page.")] = None,
) -> None:
    """Compare two stores, a store with a report, or a corpus with its previous build."""
    from corpus_assets.cli.questions.diff import Asked, run

    run(config, Asked(old, new, since, asset, examples), as_json=as_json, page=page)


def tokens(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Count tokens per source, split and dataset, from the commit records alone."""
    from corpus_assets.cli.questions.tokens import run

    run(config, as_json=as_json)


def check_windows(
    files: Annotated[list[Path], typer.Argument(help="Files with windows: .jsonl or .jsonl.gz.")],
    length: Annotated[int, typer.Option(help="Ids that each window must have.", min=1)] = 2049,
    vocabulary: Annotated[
        int | None, typer.Option(help="Size of the vocabulary: ids from this one on are bad.", min=1)
    ] = None,
    with_source: Annotated[bool, typer.Option("--with-source", help="Lines without a source are bad too.")] = False,
) -> None:
    """Check files of windows as `format: amber` writes them, line by line; exit with 1 if any line is bad."""
    from corpus_assets.cli.questions.check_windows import run
    from corpus_assets.export.amber.check import Rule

    raise typer.Exit(run(files, Rule(length, vocabulary, with_source)))


def sql(
    query: Annotated[str | None, typer.Argument(help="One SELECT; without it the tables are listed.")] = None,
    config: ConfigOption = None,
    *,
    limit: Annotated[int, typer.Option(help="Most rows to print.", min=1, max=1_000_000)] = 100,
    as_json: JsonOption = False,
) -> None:
    """Ask records, documents and attributes in SQL. Needs the extra `sql`; it reads the corpus and nothing else."""
    from corpus_assets.cli.questions.sql import run

    run(config, query, limit=limit, as_json=as_json)


def weights(
    dataset: Annotated[str, typer.Argument(help="A dataset in a trainer's format, or with weights, of a split.")],
    config: ConfigOption = None,
    *,
    output: Annotated[Path | None, typer.Option(help="The file to write; by default the table is printed.")] = None,
) -> None:
    """Begin a table of weights: the tokens of each source or unit, and of what content that is."""
    from corpus_assets.cli.weights import run

    run(config, dataset, output)
