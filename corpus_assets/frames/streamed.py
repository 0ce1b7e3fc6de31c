"""Frames of rows, read partition by partition: documents, and spans of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from corpus_assets.frames.columns import COUNT, NUMBER, TEXT, Columns, frame
from corpus_assets.frames.look import Look
from resources.errors import ConfigError, NotBuiltError
from resources.formats.attributes import attribute_rows
from resources.formats.documents import decode_document
from resources.ledger.records import partition_name
from resources.stage.graph import did_you_mean
from resources.stage.partition import Partition

if TYPE_CHECKING:
    from pandas import DataFrame

BLOCK_BYTES = 16 << 20
"""Bytes of stored lines, decompressed, of which one frame is made; a longer line is a frame of its own."""

Row = tuple[Any, ...]
Rows = Callable[[str | None, int, bytes], Iterable[Row]]
"""Makes the rows of a frame from one stored line. Arguments: partition, number of the row in it, line."""


def documents(look: Look, asset: str, partitions: Iterable[str] | None, block_bytes: int) -> Iterator[DataFrame]:
    """Yields documents: see `Frames.documents`."""
    columns: Columns = {
        "partition": TEXT,
        "row": COUNT,
        "id": TEXT,
        "source": look.sources,
        "text": TEXT,
        "text_bytes": COUNT,
        "added": TEXT,
        "created": TEXT,
        "metadata": TEXT,
    }
    return _frames(_wanted(look, asset, partitions), columns, _document, block_bytes)


def _document(key: str | None, row: int, line: bytes) -> Iterator[Row]:
    one = decode_document(line)
    metadata = bytes(one.metadata).decode() or None
    yield key, row, one.id, one.source, one.text, len(one.text.encode()), one.added, one.created, metadata


def attributes(look: Look, asset: str, partitions: Iterable[str] | None, block_bytes: int) -> Iterator[DataFrame]:
    """Yields spans of attributes: see `Frames.attributes`."""
    columns: Columns = {
        "partition": TEXT,
        "row": COUNT,
        "id": TEXT,
        "source": look.sources,
        "key": TEXT,
        "start": COUNT,
        "end": COUNT,
        "score": NUMBER,
    }
    return _frames(_wanted(look, asset, partitions), columns, _spans, block_bytes)


def _spans(key: str | None, row: int, line: bytes) -> Iterator[Row]:
    (one,) = attribute_rows([line])
    for name, spans in one.attributes.items():
        for start, end, score in spans:
            yield key, row, one.id, one.source or None, name, start, end, score


def _wanted(look: Look, asset: str, keys: Iterable[str] | None) -> list[Partition]:
    """Returns the partitions with these keys, or all that the asset should have; raises before anything is read."""
    stage = look.corpus.graph[asset]
    expected = look.planner.partitions(stage)
    known = {partition.key: partition for partition in look.partitions(stage)}
    wanted = expected if keys is None else list(keys)
    for key in wanted:
        if key not in expected:
            near = did_you_mean(str(key), map(str, expected))
            raise ConfigError(f"{stage.name} has no partition {key!r}{near}; valid: those that plan() lists")
        if key not in known:
            built = f"{len(known)} of {len(expected)} partitions are built"
            message = f"{partition_name(stage.name, key)} is not built ({built}); valid: those that records() lists"
            raise NotBuiltError(stage.name, key, message)
    return [known[key] for key in wanted]


def _frames(partitions: list[Partition], columns: Columns, rows: Rows, block_bytes: int) -> Iterator[DataFrame]:
    if not partitions:
        yield frame(columns, ())
    for partition in partitions:
        block: list[Row] = []
        held = frames = 0
        for number, line in enumerate(partition.lines()):
            block += _read(partition, number, line, rows)
            held += len(line)
            if held >= block_bytes:
                yield frame(columns, block)
                block, held, frames = [], 0, frames + 1
        if block or not frames:
            yield frame(columns, block)


def _read(partition: Partition, number: int, line: bytes, rows: Rows) -> list[Row]:
    try:
        return list(rows(partition.key, number, line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        partition.require_sound()
        raise ConfigError(f"{partition.name} row {number} is not of the kind that was asked for: {error}") from None
