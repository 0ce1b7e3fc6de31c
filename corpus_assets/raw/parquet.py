"""Reads the rows of a parquet file, batch by batch."""

from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.raw.faults import BadRow, RowError
from corpus_assets.raw.rules import RowParser
from resources.errors import BadFileError

Row = TypeVar("Row")

BATCH_BYTES = 16 << 20
MAX_BATCH_ROWS = 256


def read_rows(raw: BinaryIO, parser: RowParser[Row], where: str) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from a parquet file, and bad rows.

    The parser's textual columns may be string, binary that is UTF-8, or a dictionary of these, in any width. Raises
    `BadFileError` for another schema, and `pyarrow.ArrowException` or `OSError` for a damaged file.
    """
    file = pq.ParquetFile(raw, pre_buffer=False, page_checksum_verification=True)
    _check_schema(file.schema_arrow, parser, where)
    number = 0
    for batch in file.iter_batches(batch_size=_batch_rows(file.metadata), use_threads=False):
        names = batch.schema.names
        for values in zip(*(_column_values(column) for column in batch.columns), strict=True):
            number += 1
            try:
                yield parser.from_values(dict(zip(names, values, strict=True)), where)
            except RowError as error:
                yield error.at(f"{where} row {number}")
    if number != file.metadata.num_rows:
        raise BadFileError(where, f"{number} rows read where the footer promises {file.metadata.num_rows}")


def _check_schema(schema: Any, parser: RowParser[Row], where: str) -> None:
    columns = ", ".join(schema.names) or "none"
    if len(set(schema.names)) != len(schema.names):
        raise BadFileError(where, f"two columns with one name; columns: {columns}")
    for group in parser.required:
        if not set(group) & set(schema.names):
            raise BadFileError(where, f"no column {' or '.join(map(repr, group))}; columns: {columns}")
    for key in parser.textual:
        column = schema.field(key).type
        if not _is_textual(column):
            raise BadFileError(where, f"column {key!r} is {column}; valid: string or binary")


def _is_textual(column: Any) -> bool:
    kind = column.value_type if pa.types.is_dictionary(column) else column
    textual = (
        "is_string",
        "is_large_string",
        "is_string_view",
        "is_binary",
        "is_large_binary",
        "is_binary_view",
    )
    return any(getattr(pa.types, check)(kind) for check in textual)


def _batch_rows(metadata: Any) -> int:
    """Returns the rows per batch with which a batch of the group with the longest rows holds about `BATCH_BYTES`."""
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    row_bytes = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return int(min(max(BATCH_BYTES // max(row_bytes, 1), 1), MAX_BATCH_ROWS))


def _column_values(column: Any) -> list[object]:
    """Returns the Python values of a column; a value that cannot be converted is replaced by its `RowError`."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError):
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as fault:
        return RowError("invalid_utf8", f"column value: {fault.reason}")
    except (ValueError, OverflowError) as fault:
        return RowError("bad_value", f"column value of type {scalar.type}: {fault}")
