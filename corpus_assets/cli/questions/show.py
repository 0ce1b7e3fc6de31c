"""`corpus show`: prints chosen rows of a partition, or its commit record and first rows, for a person."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.cli.console import output, print_line
from corpus_assets.cli.questions.given_rows import files_with_rows, rows_of, within
from corpus_assets.cli.questions.wanted import Wanted
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.tokenize.rows.view import described, is_described
from corpus_assets.tokenize.tokenizer import SPEC, load_tokenizer_of
from resources.errors import ConfigError, CorpusError, StorageError
from resources.formats.hdf5.reader import HDF5, HDF5Rows, read_hdf5
from resources.formats.jsonl.compressions import ENDINGS
from resources.formats.known import format_of
from resources.ledger.ledger import FileRecord, Record, partition_name
from resources.stage.declaration import Partitioning
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition

_WIDTH = 2000
_INPUTS = 10
_WHOLE = 1 << 20
Decode = Callable[[NDArray[np.int32]], str]


@dataclass(frozen=True)
class Asked:
    """The rows to show.

    rows: how many to show at most, from the first.
    wanted: chooses among the rows of files with JSON lines; other files are then left out.
    given: numbers of rows to show instead, counted from 0.
    record: whether the commit record is printed, after the rows. None: before them, unless rows are chosen.
    """

    rows: int = 3
    wanted: Wanted | None = None
    given: Sequence[range] | None = None
    record: bool | None = None

    def __post_init__(self) -> None:
        if self.given is not None and self.wanted is not None:
            raise ConfigError("--row chooses rows by number, --id and --where by what they hold; valid: one of the two")


def run(config: Path | None, asset: str, partition: str | None, asked: Asked) -> None:
    """Prints a partition."""
    out = output()
    for line in show_partition(Corpus.open(config, read_only=True), asset, partition, asked):
        print_line(out, line)


def show_partition(corpus: Corpus, asset: str, partition: str | None, asked: Asked) -> Iterator[str]:
    """Yields lines of text; `ConfigError` for a partition that does not exist names some that do.

    `ConfigError` too for a given row that no file of the partition has, and if no row is wanted.

    Rows of tokens are decoded by the tokenizer they were made with; if the store does not have it, their ids are shown.
    """
    name = corpus.graph[asset].name
    record = corpus.ledger.read(name, partition)
    if record is None and partition is not None and corpus.graph[name].partitioning is Partitioning.NONE:
        raise ConfigError(f"{name} has no partitions; leave out {partition!r}")
    if record is None:
        known = sorted(key for key in corpus.ledger.records(name) if key is not None)
        raise ConfigError(_not_there(name, partition, known))
    files = record.files if asked.given is None else files_with_rows(record, asked.given)
    chosen = asked.given is not None or asked.wanted is not None
    if not chosen and asked.record is None:
        yield from _record(record)
    apart, none = "" if chosen else "\n", asked.wanted is not None and asked.rows > 0
    for file in files:
        if asked.wanted is not None and not file.path.endswith(ENDINGS):
            continue
        rows = f", {file.rows} rows" if file.rows else ""  # Files of trainers count theirs in `places`.
        yield f"{apart}{file.path} ({file.bytes:,} bytes{rows})"
        for line in _rows(corpus, record, file, asked):
            yield line
            none = False
        apart = "\n"
    if none and asked.wanted is not None:
        raise ConfigError(f"{partition_name(name, partition)}: no row is chosen by {asked.wanted.words()}")
    if asked.record:
        yield ""
        yield from _record(record)


def _not_there(name: str, partition: str | None, known: Sequence[str]) -> str:
    """Returns in words why there is nothing to show. known: the built partitions of the asset."""
    there = f"; there are {', '.join(known[:10])}{' ...' if len(known) > 10 else ''}" if known else ""
    if partition is None:
        return f"{name} is built partition by partition: name one{there}" if known else f"{name} is not built"
    return f"{name} has no partition {partition!r} built{did_you_mean(partition, known)}{there}"


def _record(record: Record) -> Iterator[str]:
    """Yields a record as JSON, with everything below the second level on one line."""
    fields = msgspec.to_builtins(record, enc_hook=dict) | {"inputs": dict(_first_inputs(record))}
    yield "{"
    for n, (name, value) in enumerate(fields.items()):
        comma = "," if n < len(fields) - 1 else ""
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {_json(key)}: {_json(item)}" for key, item in value.items())
            yield f'  "{name}": {{\n{inner}\n  }}{comma}'
        else:
            yield f'  "{name}": {_json(value)}{comma}'
    yield "}"


def _first_inputs(record: Record) -> Iterator[tuple[str, str]]:
    """Yields the first inputs with their digests, and the number of further ones, if any."""
    yield from islice(record.inputs.items(), _INPUTS)
    if len(record.inputs) > _INPUTS:
        yield "...", f"{len(record.inputs) - _INPUTS:,} more"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def _rows(corpus: Corpus, record: Record, file: FileRecord, asked: Asked) -> Iterator[str]:
    if file.path.endswith(HDF5.suffix):
        with corpus.storage.open(file.path) as raw, read_hdf5(raw, file.path) as tokens:
            yield _short(str(tokens.attributes))
            yield from _token_rows(corpus, record, tokens, within(asked.given or [range(asked.rows)], tokens.n))
    elif asked.given is not None:
        yield from map(_short, rows_of(corpus.storage, record, file, asked.given))
    elif file.path.endswith(".json"):
        yield from _document(corpus, file, asked.rows)
    else:
        yield from map(_short, _first_rows(corpus, file, asked))


def _first_rows(corpus: Corpus, file: FileRecord, asked: Asked) -> Iterator[str]:
    # All lines of a file may have to be examined, since only some are wanted.
    limit = asked.rows if asked.wanted is None else file.rows or sys.maxsize
    lines = format_of(file.path).preview(corpus.storage.open, file.path, limit)
    return lines if asked.wanted is None else islice(filter(asked.wanted, lines), asked.rows)


def _document(corpus: Corpus, file: FileRecord, rows: int) -> Iterator[str]:
    """Yields the content of a JSON file, indented; of a large one, and if no rows are asked for, only its size."""
    if not rows or file.bytes > _WHOLE:
        return
    with corpus.storage.open(file.path) as stored:
        content = stored.read(_WHOLE)
    try:
        yield msgspec.json.format(content, indent=2).decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        yield "(no JSON)"


def _token_rows(corpus: Corpus, record: Record, tokens: HDF5Rows, rows: Sequence[range]) -> Iterator[str]:
    # Row by row, since a range may be the whole file; the reader keeps their chunk.
    numbered = ((number, tokens[number : number + 1][0]) for one in rows for number in one)
    if not is_described(tokens.features):
        yield from (_short(str(row)) for _, row in numbered)
        return
    attributes = tokens.attributes
    decode = _decoder(corpus, record, attributes.get("tokenizer"))
    if decode is None:
        yield "The tokenizer of these rows is not in the store; their ids are shown instead."
    pad_id, inverted = int(attributes.get("pad_id", -1)), bool(attributes.get("inverted_mask", False))
    for number, row in numbered:
        first, *texts = described(row, tokens.features, decode or _ids, pad_id=pad_id, inverted=inverted)
        yield f"row {number}: {first}"
        yield from texts


def _decoder(corpus: Corpus, record: Record, digest: object) -> Decode | None:
    """Returns the function that decodes the rows of a partition; None if the store no longer has their tokenizer."""
    stage = corpus.graph[record.asset]
    separator = next((value for key, value in record.parameters.items() if key.endswith(".separator")), None)
    for upstream in (corpus.graph[edge.asset] for edge in stage.inputs):
        stored = corpus.ledger.read(upstream.name, None) if upstream.partitioning is Partitioning.NONE else None
        if stored is None or not any(file.path.endswith(f"/{SPEC}") for file in stored.files):
            continue
        try:
            tokenizer = load_tokenizer_of(Partition(corpus.storage, stored), separator)
        except StorageError:  # A store that does not answer says nothing of the tokenizer.
            raise
        except (FileNotFoundError, CorpusError):  # missing, or different from its record
            continue
        if tokenizer.digest == digest:
            return tokenizer.decode
    return None


def _ids(ids: NDArray[np.int32]) -> str:
    return "".join(f"{number} " for number in ids.tolist())


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]} ..."
