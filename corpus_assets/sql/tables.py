"""The tables that SQL sees, read from the store in batches whenever a query scans them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa

from corpus_assets.filter.assets import READ
from corpus_assets.report.records import source_of
from corpus_assets.tracing.look import Look
from corpus_assets.viewer.listing.fates import fates_of
from resources.errors import LedgerError
from resources.formats.attributes import attribute_rows
from resources.formats.documents import decode_document
from resources.stage.declaration import Partitioning
from resources.stage.partition import Partition

BATCH_ROWS = 4096
BATCH_BYTES = 16 << 20
"""A batch ends with the row that makes it as large as one of these."""

Row = tuple[Any, ...]
TEXT, COUNT, NUMBER = pa.string(), pa.int64(), pa.float64()


@dataclass(frozen=True)
class Table:
    """A table. columns: name and type of each. rows: yields them; it is called for each scan, so that one may be
    scanned twice in a query. sized: about how many bytes a row takes. raised: errors of `rows`, of which the program
    that scans the table tells only words."""

    columns: Mapping[str, pa.DataType]
    rows: Callable[[], Iterator[Row]]
    sized: Callable[[Row], int] = len
    raised: list[BaseException] = field(default_factory=list)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns the rows as a stream, as Arrow's PyCapsule interface has it."""
        schema = pa.schema(list(self.columns.items()))
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema)).__arrow_c_stream__(requested_schema)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        held: list[Row] = []
        size = 0
        for row in self._noting():
            held.append(row)
            size += self.sized(row)
            if len(held) == BATCH_ROWS or size >= BATCH_BYTES:
                yield _batch(held, schema)
                held, size = [], 0
        if held:
            yield _batch(held, schema)

    def _noting(self) -> Iterator[Row]:
        try:
            yield from self.rows()
        except (Exception, KeyboardInterrupt) as error:
            self.raised.append(error)
            raise


def _batch(rows: list[Row], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(zip(*rows, strict=True), schema, strict=True)
    return pa.record_batch([pa.array(values, field.type) for values, field in columns], schema=schema)


def tables_of(look: Look) -> dict[str, Table]:
    """Returns all tables of a corpus, by name."""
    place: dict[str, pa.DataType] = {"source": TEXT, "shard": TEXT, "row": COUNT, "id": TEXT}
    texts = {"text": TEXT, "characters": COUNT, "added": TEXT, "created": TEXT, "metadata": TEXT, "fate": TEXT}
    numbers = dict.fromkeys(("rows_in", "rows_out", "dropped", "text_bytes", "files", "stored_bytes"), COUNT)
    took = {"seconds": NUMBER, "cpu_seconds": NUMBER}
    recorded: dict[str, pa.DataType] = {"asset": TEXT, "partition": TEXT, "source": TEXT, **numbers, **took}
    drops = {"asset": TEXT, "partition": TEXT, "source": TEXT, "reason": TEXT, "rows": COUNT}
    return {
        "records": Table({**recorded, "created": TEXT, "digest": TEXT}, lambda: _records(look)),
        "dropped": Table(drops, lambda: _dropped(look)),
        "documents": Table(
            {**place, **texts}, lambda: _documents(look), lambda row: 4 * len(row[4]) + len(row[8] or "")
        ),
        "attributes": Table(
            {**place, "asset": TEXT, "key": TEXT, "score": NUMBER, "spans": COUNT}, lambda: _attributes(look)
        ),
    }


def _present(look: Look, asset: str) -> Iterator[Partition]:
    """Yields the partitions that an asset should have now: all but orphans."""
    wanted = look.planner.partitions(look.corpus.graph[asset]) if look.has(asset) else []
    records = look.records(asset)
    yield from (look.handle(records[key]) for key in wanted if key in records)


def _records(look: Look) -> Iterator[Row]:
    for stage in look.corpus.graph:
        for made in _present(look, stage.name):
            record, numbers = made.record, made.record.statistics
            counts = (numbers.get(name) for name in ("rows_in", "rows_out"))
            dropped = sum(numbers.get("dropped", {}).values()) if "dropped" in numbers else None
            files = len(record.files), sum(file.bytes for file in record.files)
            took = numbers.get("seconds"), numbers.get("cpu_seconds")
            begin = stage.name, made.key, source_of(made), *counts, dropped, numbers.get("text_bytes")
            yield *begin, *files, *took, record.created, record.digest


def _dropped(look: Look) -> Iterator[Row]:
    for stage in look.corpus.graph:
        for made in _present(look, stage.name):
            for reason, rows in (made.record.statistics.get("dropped") or {}).items():
                yield stage.name, made.key, source_of(made), reason, rows


def _documents(look: Look) -> Iterator[Row]:
    for made in _present(look, READ):
        fates = fates_of(look, made)
        for row, line in enumerate(made.lines()):
            one = _decoded(made, row, line)
            metadata = bytes(one.metadata).decode("utf-8", "replace") or None
            place = _safe(one.source), made.key, row, _safe(one.id)
            dates = _safe(one.added), _safe(one.created)
            yield *place, _safe(one.text), len(one.text), *dates, metadata, fates.names[int(fates.codes[row])]


def _decoded(made: Partition, row: int, line: bytes) -> Any:
    try:
        return decode_document(line)
    except msgspec.MsgspecError as error:
        made.require_sound()
        raise LedgerError(f"{made.name} row {row}: {error}") from None


def _safe(text: str | None) -> str | None:
    """Returns a text that Arrow takes: half of a surrogate pair becomes a question mark."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()


def _attributes(look: Look) -> Iterator[Row]:
    for stage in look.corpus.graph:
        if stage.partitioning is not Partitioning.SHARD or stage.shard_set is not None:
            continue
        for made in _present(look, stage.name):
            if not any(file.path.startswith("attributes/") for file in made.record.files):
                break
            for row, one in enumerate(attribute_rows(made.lines())):
                place = _safe(one.source), made.key, row, _safe(one.id), stage.name
                for key, spans in one.attributes.items():
                    yield *place, key, float(sum(score for _, _, score in spans)), len(spans)
