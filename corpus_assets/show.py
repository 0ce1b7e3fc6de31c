"""A partition for a person: its commit record and its first rows."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.corpus import Corpus
from corpus_assets.tokenize.rows.hdf5 import HDF5Rows, read_hdf5
from corpus_assets.tokenize.rows.view import described, is_described
from corpus_assets.tokenize.tokenizer_asset import load_part
from resources.errors import ConfigError
from resources.ledger import FileRecord, Record
from resources.task import Part

_WIDTH = 2000
_INPUTS = 10
Decode = Callable[[NDArray[np.int32]], str]


def show_partition(corpus: Corpus, asset: str, partition: str | None, rows: int) -> Iterator[str]:
    """Lines of text; `ConfigError` for a partition that does not exist, with the ones that do.

    Rows of tokens are decoded by the tokenizer they were made with; without it in the store, their ids are shown.
    """
    name = corpus.graph[asset].name
    record = corpus.ledger.read(name, partition)
    if record is None:
        known = [key for key in corpus.ledger.records(name) if key is not None]
        there = f"; there are {', '.join(known[:10])}{' ...' if len(known) > 10 else ''}" if known else ""
        raise ConfigError(f"{name} has no partition {partition!r} built{there}")
    yield from _record(record)
    part = Part(corpus.storage, record)
    for file in record.files:
        yield f"\n{file.path} ({file.bytes:,} bytes, {file.rows} rows)"
        yield from _rows(corpus, part, file, rows)


def _record(record: Record) -> Iterator[str]:
    """JSON, with one line for whatever lies deeper than two levels."""
    fields = msgspec.to_builtins(record) | {"inputs": dict(islice(record.inputs.items(), _INPUTS))}
    yield "{"
    for n, (name, value) in enumerate(fields.items()):
        comma = "," if n < len(fields) - 1 else ""
        if isinstance(value, dict) and value:
            inner = ",\n".join(f"    {_json(key)}: {_json(item)}" for key, item in value.items())
            yield f'  "{name}": {{\n{inner}\n  }}{comma}'
        else:
            yield f'  "{name}": {_json(value)}{comma}'
    yield "}"


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()


def _rows(corpus: Corpus, part: Part, file: FileRecord, rows: int) -> Iterator[str]:
    if file.path.endswith(".jsonl.gz"):
        yield from (_short(line.decode().rstrip("\n")) for line in islice(part.lines(file.path), rows))
    elif file.path.endswith(".npy"):
        array = part.array(file.path)
        yield f"{array.dtype} {array.shape}"
        yield from (_short(str(row)) for row in array[:rows])
    elif file.path.endswith(".h5"):
        with part.open(file.path) as raw, read_hdf5(raw, file.path) as tokens:
            yield _short(str(tokens.attributes))
            yield from _token_rows(corpus, part.record, tokens, rows)


def _token_rows(corpus: Corpus, record: Record, tokens: HDF5Rows, rows: int) -> Iterator[str]:
    if not is_described(tokens.features):
        yield from (_short(str(row)) for row in tokens[:rows])
        return
    attributes = tokens.attributes
    decode = _decoder(corpus, record, attributes.get("tokenizer"))
    if decode is None:
        yield "The tokenizer of these rows is not in the store; these are their ids."
    pad_id, inverted = int(attributes.get("pad_id", -1)), bool(attributes.get("inverted_mask", False))
    for number, row in enumerate(tokens[:rows]):
        first, *texts = described(row, tokens.features, decode or _ids, pad_id=pad_id, inverted=inverted)
        yield f"row {number}: {first}"
        yield from texts


def _decoder(corpus: Corpus, record: Record, digest: object) -> Decode | None:
    """What decodes the rows of a partition; None if the store has no tokenizer, or by now another one."""
    dataset = record.asset.partition("/")[2]
    own = f"tokenizers/{dataset}"
    stored = corpus.ledger.read(own if own in corpus.graph.stages else "tokenizer", None)
    if stored is None:
        return None
    try:
        tokenizer = load_part(Part(corpus.storage, stored), record.parameters.get(f"datasets.{dataset}.separator"))
    except FileNotFoundError:
        return None
    return tokenizer.decode if tokenizer.digest == digest else None


def _ids(ids: NDArray[np.int32]) -> str:
    return "".join(f"{number} " for number in ids.tolist())


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]} ..."
