"""A partition for a person: its commit record and its first rows."""

from collections.abc import Iterator
from itertools import islice

import msgspec

from corpus_assets.corpus import Corpus
from corpus_assets.tokenize.hdf5 import read_hdf5
from resources.errors import ConfigError
from resources.ledger import FileRecord, Record
from resources.task import Part

_WIDTH = 2000


def show_partition(corpus: Corpus, asset: str, partition: str | None, rows: int) -> Iterator[str]:
    """Lines of text; `ConfigError` for a partition that does not exist, with the ones that do."""
    name = corpus.graph[asset].name
    record = corpus.ledger.read(name, partition)
    if record is None:
        known = [key for key in corpus.ledger.records(name) if key is not None]
        there = f"; there are {', '.join(known[:10])}{' ...' if len(known) > 10 else ''}" if known else ""
        raise ConfigError(f"{name} has no partition {partition!r} built{there}")
    yield _record(record)
    part = Part(corpus.storage, record)
    for file in record.files:
        yield f"\n{file.path} ({file.bytes:,} bytes, {file.rows} rows)"
        yield from _rows(part, file, rows)


def _record(record: Record) -> str:
    trimmed = msgspec.structs.replace(record, inputs=dict(islice(record.inputs.items(), 10)))
    return msgspec.json.format(msgspec.json.encode(trimmed), indent=2).decode()


def _rows(part: Part, file: FileRecord, rows: int) -> Iterator[str]:
    if file.path.endswith(".jsonl.gz"):
        yield from (_short(line.decode().rstrip("\n")) for line in islice(part.lines(file.path), rows))
    elif file.path.endswith(".npy"):
        array = part.array(file.path)
        yield f"{array.dtype} {array.shape}"
        yield from (_short(str(row)) for row in array[:rows])
    elif file.path.endswith(".h5"):
        with part.open(file.path) as raw, read_hdf5(raw, file.path) as tokens:
            yield _short(str(tokens.attributes))
            first = next(tokens.blocks(max(1, rows)), None)
            yield from (_short(str(row)) for row in (first[:rows] if first is not None else ()))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]} ..."
