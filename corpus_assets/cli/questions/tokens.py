"""`corpus tokens`: how many tokens there are, by source, split and dataset. Reads commit records, no data."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from corpus_assets import dataset_names as names
from corpus_assets.cli.console import output, print_json
from corpus_assets.config.datasets.exports import HDF5
from corpus_assets.config.datasets.text_exports import is_text
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.datasets import exported_datasets, stream_owners
from corpus_assets.export.format import LEARNED, ids_in_files, totals_of
from corpus_assets.export.token_stream import sums_by_source
from corpus_assets.tokenize.counts.statistics import COUNTERS, H5_DATASET_STATS, Statistics
from resources.planning.planner import Planner
from resources.stage.partition import Partition


class Counted(msgspec.Struct):
    """Documents, bytes of text and tokens of one source in a token stream; separators do not count."""

    stream: str
    source: str
    documents: int
    text_bytes: int
    tokens: int


class OfSource(msgspec.Struct):
    """The share of one source in an HDF5 dataset: documents, bytes of text, ids with separators, labels in the loss.

    loss_tokens: None where labels are not assigned to documents.
    """

    documents: int = 0
    text_bytes: int = 0
    tokens: int = 0
    loss_tokens: int | None = None


class Dataset(msgspec.Struct):
    """The tokens of a dataset.

    rows: of HDF5 files, else windows or documents.
    tokens: with separators, without padding.
    partitions: how many of `of` are built; the numbers are theirs.
    by_source: of a dataset in HDF5; None if a partition was made before sources were counted. The other datasets are
        made of the streams.
    """

    name: str
    format: str
    input: str
    rows: int
    tokens: int
    partitions: int
    of: int
    loss_tokens: int | None = None
    by_source: dict[str, OfSource] | None = None


def run(config: Path | None, *, as_json: bool) -> None:
    """Prints the numbers of what is built."""
    corpus = Corpus.open(config, read_only=True)
    planner = corpus.planner()
    streams, datasets = list(_streams(corpus, planner)), list(_datasets(corpus, planner))
    if as_json:
        print_json({"streams": msgspec.to_builtins(streams), "datasets": msgspec.to_builtins(datasets)})
        return
    out = output()
    if streams:
        out.print(_stream_table(streams))
    if any(one.by_source for one in datasets):
        out.print(_source_table(datasets))
    out.print(_dataset_table(datasets))


def _built(corpus: Corpus, planner: Planner, asset: str) -> tuple[list[Partition], int]:
    """Returns the built partitions of an asset, and how many it should have."""
    keys, records = planner.partitions(corpus.graph[asset]), planner.records(asset)
    return [corpus.handle(records[key]) for key in keys if key in records], len(keys)


def _streams(corpus: Corpus, planner: Planner) -> Iterator[Counted]:
    for asset in (one.streams[0] for one in stream_owners(corpus.settings.values["datasets"])):
        made, _ = _built(corpus, planner, asset)
        for source, numbers in sums_by_source(made).items():
            yield Counted(asset, source, numbers["documents"], numbers["text_bytes"], numbers["tokens"])


def _datasets(corpus: Corpus, planner: Planner) -> Iterator[Dataset]:
    exported = {dataset.name for dataset in exported_datasets(corpus.settings.values["datasets"])}
    for entry in (one for one in corpus.settings.values["datasets"] if not is_text(one)):
        name: str = entry["name"]
        made, expected = _built(corpus, planner, names.tokens(name))
        given = entry["input"] if isinstance(entry["input"], str) else "files"
        if name in exported:
            counted = _of_export(made)
        else:
            sequences, _ = _built(corpus, planner, names.sequences(name)) if entry["shuffle"] else (made, 0)
            counted = {**_of_rows(made, sequences), "by_source": _by_source(sequences)}
        yield Dataset(name, entry.get("format", HDF5), given, **counted, partitions=len(made), of=expected)


def _of_export(made: list[Partition]) -> Mapping[str, Any]:
    totals = totals_of(made)
    counted = {"rows": totals.get("units", 0), "tokens": ids_in_files(totals, totals["dropped"])}
    return {**counted, "loss_tokens": totals[LEARNED]} if LEARNED in totals else counted


def _of_rows(made: list[Partition], sequences: list[Partition]) -> Mapping[str, Any]:
    """Returns the numbers of files. sequences: the partitions that made rows of texts and counted tokens."""
    counted = [partition.counters(H5_DATASET_STATS) for partition in made]
    keys = {"rows": "num_sequences", "loss_tokens": "loss_valid_tokens"}
    found = {ours: sum(int(one[theirs]) for one in counted) for ours, theirs in keys.items()}
    tokens = sum(Statistics.from_dict(one.counters(COUNTERS)).non_pad_tokens for one in sequences if made)
    return {**found, "tokens": tokens}


def _by_source(made: list[Partition]) -> dict[str, OfSource] | None:
    """Returns the numbers of each source, in the order of names."""
    total: dict[str, Counter[str]] = {}
    for partition in made:
        if (found := partition.record.statistics.get("by_source")) is None:
            return None
        for source, numbers in found.items():
            total.setdefault(source, Counter()).update(numbers)
    return {source: OfSource(**numbers) for source, numbers in sorted(total.items())}


def _table(title: str, words: list[str], numbers: list[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for word in words:
        table.add_column(word)
    for number in numbers:
        table.add_column(number, justify="right")
    return table


def _stream_table(streams: list[Counted]) -> Table:
    table = _table("tokens by source", ["stream", "source"], ["documents", "text bytes", "tokens", "bytes/token"])
    for one in streams:
        ratio = f"{one.text_bytes / one.tokens:.2f}" if one.tokens else "-"
        table.add_row(one.stream, one.source, f"{one.documents:,}", f"{one.text_bytes:,}", f"{one.tokens:,}", ratio)
    return table


def _source_table(datasets: list[Dataset]) -> Table:
    words, numbers = ["dataset", "source"], ["documents", "text bytes", "tokens", "in the loss", "bytes/token"]
    table = _table("tokens of the texts by source, with separators, cut and discarded ones included", words, numbers)
    for dataset in datasets:
        for source, one in (dataset.by_source or {}).items():
            ratio = f"{one.text_bytes / one.tokens:.2f}" if one.tokens else "-"
            loss = "-" if one.loss_tokens is None else f"{one.loss_tokens:,}"
            counts = (f"{count:,}" for count in (one.documents, one.text_bytes, one.tokens))
            table.add_row(dataset.name, source, *counts, loss, ratio)
    return table


def _dataset_table(datasets: list[Dataset]) -> Table:
    table = _table("datasets", ["dataset", "format", "made of"], ["rows", "tokens", "in the loss", "partitions"])
    for one in datasets:
        loss = "-" if one.loss_tokens is None else f"{one.loss_tokens:,}"
        built = f"{one.partitions} of {one.of}"
        table.add_row(one.name, one.format, one.input, f"{one.rows:,}", f"{one.tokens:,}", loss, built)
    return table
