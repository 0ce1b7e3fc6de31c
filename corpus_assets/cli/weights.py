"""`corpus weights`: a table of weights to begin with, which says of what content it was made."""

import csv
import sys
import tempfile
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

from corpus_assets import dataset_names as names
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.export.datasets import ExportedDataset, streamed_datasets
from corpus_assets.export.mixture import UnitsOfStreams
from corpus_assets.export.token_stream import sums_by_source
from corpus_assets.export.weights.shares import FITTED_ON
from resources.errors import ConfigError
from resources.planning.planner import Planner
from resources.stage.partition import Partition

UNITS = "mixed_units"


def run(config: Path | None, dataset: str, output: Path | None) -> None:
    """Prints the table of a dataset, or writes it to a file."""
    table = table_of(Corpus.open(config, read_only=True), dataset)
    if output is None:
        sys.stdout.write(table)
    else:
        output.write_text(table, encoding="utf-8")


def table_of(corpus: Corpus, name: str) -> str:
    """Returns a CSV with the share of the tokens, and the tokens, that each source or unit of a dataset has now."""
    known = {one.name: one for one in streamed_datasets(corpus.settings.values["datasets"]) if _is_of_a_split(one)}
    if name not in known:
        raise ConfigError(
            f"no dataset in a trainer's format, or with weights, reads a split and is named {name!r}; valid: "
            f"{', '.join(known) or 'none'}"
        )
    planner, stream = corpus.planner(), names.token_stream(known[name].stream)
    assets = [stream, *([UNITS] if UNITS in corpus.graph.stages else [])]
    tokens = _tokens(corpus, planner, assets)
    whole = sum(tokens.values()) or 1
    out = StringIO()
    for asset in assets:
        out.write(f"{FITTED_ON}{asset} {planner.content(asset)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["unit" if len(assets) > 1 else "domain", "weight", "tokens"])
    writer.writerows([one, f"{count / whole:.9f}", count] for one, count in tokens.items())
    return out.getvalue()


def _is_of_a_split(dataset: ExportedDataset) -> bool:
    return isinstance(dataset.values["input"], str) and not dataset.parts


def _tokens(corpus: Corpus, planner: Planner, assets: list[str]) -> Mapping[str, int]:
    streams = [*_built(corpus, planner, assets[0])]
    if len(assets) == 1:
        return {source: numbers["tokens"] for source, numbers in sums_by_source(streams).items()}
    tables = {table.key: table for table in _built(corpus, planner, UNITS)}
    with tempfile.TemporaryFile() as scratch:
        units = UnitsOfStreams(streams, tables, lambda: scratch)
        return dict(zip(units.names, units.tokens.tolist(), strict=True))


def _built(corpus: Corpus, planner: Planner, asset: str) -> Iterator[Partition]:
    records = planner.records(asset)
    for key in planner.partitions(corpus.graph[asset]):
        if key not in records:
            raise ConfigError(f"{asset} is not built: `corpus build --select +{asset}`")
        yield Partition(corpus.storage, records[key])
