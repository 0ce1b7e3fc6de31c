"""`corpus packing`: compares methods of packing on the lengths of a dataset's documents, as a table and a plot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from corpus_assets.cli.console import errors, output, print_json, print_line
from corpus_assets.cli.questions.packing_plot import drawn, require_drawable, save
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.document_lengths import DocumentLengths, lengths_in, lengths_of, measured
from corpus_assets.export.token_stream import LENGTHS
from corpus_assets.packing.histogram import LongDocuments, ids_in, rule_named, sequences_of
from corpus_assets.packing.methods import METHODS, chosen, row_of, tried
from corpus_assets.packing.packs import lower_bound
from resources.errors import ConfigError


class Asked(NamedTuple):
    """The arguments of the command; None for values that the dataset decides. methods: by name; none means all."""

    dataset: str
    length: int | None = None
    depth: int | None = None
    long_documents: str | None = None
    methods: Sequence[str] = ()


@dataclass(frozen=True)
class Comparison:
    """The results of methods for a dataset. truncated_tokens: ids of long documents that are cut before packing."""

    dataset: str
    sequence_length: int
    depth: int | None
    long_documents: str
    documents: int
    empty_documents: int
    long: int
    ids: int
    truncated_tokens: int
    sequences: int
    lower_bound: int
    partitions: dict[str, int]
    methods: list[dict[str, Any]]


def run(config: Path | None, asked: Asked, *, as_json: bool, plot: Path | None) -> None:
    """Compares the methods, draws the plot, and prints the table."""
    names = chosen(asked.methods)
    if plot is not None:
        require_drawable(plot)
    if asked.dataset.endswith(LENGTHS):
        found = compared_file(Path(asked.dataset), asked, names)
    else:
        found = compared(Corpus.open(config, read_only=True), asked, names)
    if plot is not None:
        save(plot, drawn(found.methods, [_words(row) for row in found.methods], _title(found), plot.suffix))
    if as_json:
        print_json(asdict(found))
    else:
        _print(found)


def compared(corpus: Corpus, asked: Asked, names: Sequence[str]) -> Comparison:
    """Returns the results of the named methods for a dataset. ConfigError for arguments that do not fit it."""
    dataset = measured(corpus, asked.dataset)
    length, depth = asked.length or dataset.length, asked.depth or dataset.depth
    if length is None:
        raise ConfigError(f"dataset {dataset.name} holds whole documents; --length says how many ids a row has")
    rule = dataset.long_documents if asked.long_documents is None else rule_named(asked.long_documents)
    found = lengths_of(corpus, dataset, lambda words: print_line(errors(), words))
    return _comparison(dataset.name, (length, depth, rule), found, names)


def compared_file(path: Path, asked: Asked, names: Sequence[str]) -> Comparison:
    """Returns the results for the lengths in a `.len.npy` of anybody; `BadFileError` for a file that holds none."""
    if asked.length is None:
        raise ConfigError(f"{path} holds lengths of whole documents; --length says how many ids a row has")
    rule = "fold" if asked.long_documents is None else rule_named(asked.long_documents)
    found = DocumentLengths(lengths_in(path), partitions=1, stale=0, counted=0, absent=0)
    return _comparison(str(path), (asked.length, asked.depth, rule), found, names)


def _comparison(
    name: str, rows: tuple[int, int | None, LongDocuments], found: DocumentLengths, names: Sequence[str]
) -> Comparison:
    """Returns the results for lengths. rows: ids of a row, most sequences in one, and what is done with longer ones."""
    length, depth, rule = rows
    sequences = sequences_of(found.lengths, length, rule)
    return Comparison(
        dataset=name,
        sequence_length=length,
        depth=depth,
        long_documents=rule,
        documents=sequences.documents,
        empty_documents=sequences.empty,
        long=sequences.long,
        ids=ids_in(sequences.histogram) + sequences.truncated,
        truncated_tokens=sequences.truncated,
        sequences=int(sequences.histogram.sum()),
        lower_bound=lower_bound(sequences.histogram),
        partitions={
            "all": found.partitions,
            "stale": found.stale,
            "counted": found.counted,
            "absent": found.absent,
        },
        methods=[row_of(method, sequences.truncated) for method in tried(sequences.histogram, names, depth)],
    )


def _title(found: Comparison) -> str:
    return f"{found.dataset}: {found.sequences:,} sequences in rows of {found.sequence_length:,} ids"


def _words(row: Mapping[str, Any]) -> str:
    """Returns the name of the method of a row, and its depth, for people."""
    depth = row["depth"]
    return METHODS[row["method"]].words + ("" if depth is None else f", depth {depth:,}")


def _print(found: Comparison) -> None:
    out = output()
    for line in _introduction(found):
        print_line(out, line)
    table = Table(*_COLUMNS, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in found.methods:
        if "left_out" not in row:
            table.add_row(_words(row), *(_CELLS[key](row[key]) for key in _CELLS))
    out.print(table)
    for row in found.methods:
        if "left_out" in row:
            print_line(out, f"{_words(row)}: left out: {row['left_out']}")


def _introduction(found: Comparison) -> Iterator[str]:
    yield f"{found.dataset}: {found.documents:,} documents, {found.ids:,} ids; rows of {found.sequence_length:,} ids"
    if found.long:
        yield f"{found.long:,} documents are longer than a row: {_LONG[found.long_documents]}"
    if found.empty_documents:
        yield f"{found.empty_documents:,} documents without an id are left out"
    yield f"{found.sequences:,} sequences; no method needs fewer than {found.lower_bound:,} rows for all their ids"
    for key, words in _PARTITIONS.items():
        if found.partitions[key]:
            yield f"note: {found.partitions[key]:,} of {found.partitions['all']:,} partitions {words}"


_COLUMNS = ("method", "rows", "fill", "sequences per row", "cut", "truncated tokens", "padded tokens", "empty slots")
_CELLS: Mapping[str, Callable[[Any], str]] = {
    "rows": "{:,}".format,
    "fill": "{:.4%}".format,
    "sequences_per_row": "{:.2f}".format,
    "cut": "{:,}".format,
    "truncated_tokens": "{:,}".format,
    "padded_tokens": "{:,}".format,
    "empty_slots": "{:,}".format,
}
_LONG = {
    "fold": "they are divided into full rows and a rest",
    "cut": "only what fits a row is kept of them",
    "drop": "they are dropped",
}
_PARTITIONS = {
    "stale": "are not fresh: their documents are counted as they were built",
    "absent": "are not built, and not counted",
}
