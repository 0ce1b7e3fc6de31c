"""Rows of typed columns, from record batches of parquet and Arrow files."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from corpus_assets.raw.rows.faults import BadRow, RowError, shown_names
from corpus_assets.raw.rows.json_values import splits
from corpus_assets.raw.rows.rules import Limits, RowParser, missing_column
from resources.errors import BadFileError, raise_machine_fault

Row = TypeVar("Row")

BATCH_BYTES: Final = 128 << 20
MAX_BATCH_ROWS: Final = 256
INNER_VALUE_BYTES: Final = 32
"""Bytes that each value in a list, object or map counts besides its own: it may be stored in zero bytes, and becomes a
Python object when its row is read.
"""
FREE_VALUE_BYTES: Final = 4 << 30
"""Bytes of values that a file of any size may hold, since rows may share a value that is stored once."""
_REFERENCE_BYTES: Final = 8
_UNCONVERTED: Final = (ValueError, ArithmeticError, LookupError, OSError)  # the latter two for unknown time zones
_TEXTUAL: Final = (
    *("is_string", "is_large_string", "is_string_view"),
    *("is_binary", "is_large_binary", "is_binary_view"),
)


def parsed_rows(
    batches: Iterable[Any], parser: RowParser[Row], limits: Limits, where: str, stored_bytes: int
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from record batches, and bad rows; `BadFileError` for too many values.

    A row whose values have more than `limits.line_bytes` is bad. stored_bytes: size of the file.
    """
    number = 0
    most_bytes = max(FREE_VALUE_BYTES, limits.decompressed(stored_bytes))
    for batch in batches:
        most_bytes -= _stored_bytes(batch.columns)
        if most_bytes < 0:
            raise BadFileError(where, f"its values have more bytes than a file of {stored_bytes} bytes may have")
        for values in _rows(batch, limits.line_bytes):
            number += 1
            try:
                row = parser.from_line(None, where) if values is None else parser.from_values(values, where)
            except RowError as error:
                yield error.at(f"{where} row {number}")
            else:
                yield row


def wanted(names: Sequence[str], parser: RowParser[Row]) -> list[str]:
    """Returns the columns to read; all if a requested one is missing, so that the error can list them."""
    heads = [(name, f"{name}.") for name in names]
    missing = any(
        not any(key == name or key.startswith(head) for name, head in heads) for key in chain(*parser.required)
    )
    if parser.columns is None or missing:
        return list(names)
    return [name for name, head in heads if any(key == name or key.startswith(head) for key in parser.columns)]


def check_schema(schema: Any, parser: RowParser[Row], where: str) -> None:
    """Raises `BadFileError` unless names are unique, required columns exist, and textual ones hold text."""
    columns = shown_names(schema.names) or "none"
    if len(set(schema.names)) != len(schema.names):
        raise BadFileError(where, f"two columns with one name; columns: {columns}")
    below = [key for group in parser.required for key in group if leads_to_column(schema, key)]
    if missing := missing_column(parser, [*schema.names, *below]):
        raise BadFileError(where, f"{missing}; columns: {columns}")
    for key in parser.textual:
        column = schema.field(key).type
        if not is_textual(column):
            raise BadFileError(where, f"column {key!r} is {column}; valid: string or binary")


def leads_to_column(columns: Any, key: str) -> bool:
    """Returns whether a key is a column or leads through objects to one. columns: a schema, or a type of objects."""
    for head, rest in [(key, ""), *splits(key)]:
        if (index := columns.get_field_index(head)) < 0:
            continue
        kind = columns.field(index).type
        while pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            kind = kind.value_type
        if not rest or (pa.types.is_struct(kind) and leads_to_column(kind, rest)):
            return True
    return False


def is_textual(column: Any) -> bool:
    """Returns whether a type holds strings or bytes, in any width, also in a dictionary."""
    kind = column.value_type if pa.types.is_dictionary(column) else column
    return any(getattr(pa.types, check)(kind) for check in _TEXTUAL)


def plain(column: Any) -> Any:
    """Returns a column without a dictionary, so that its bytes are those of its rows only."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def plain_batch(batch: Any) -> Any:
    """Returns a batch without dictionaries; those within lists and objects stay if rows share too many of their bytes.

    Such a batch is converted row by row, and a row that is too long is not.
    """
    batch = pa.RecordBatch.from_arrays([plain(column) for column in batch.columns], names=batch.schema.names)
    if not any(map(_refers, batch.schema.types)) or _stored_bytes(batch.columns) > BATCH_BYTES:
        return batch
    return batch.cast(pa.schema([field.with_type(_plain_type(field.type)) for field in batch.schema]))


def _refers(kind: Any) -> bool:
    """Returns whether a type has a dictionary, at any depth."""
    inner = range(kind.num_fields) if pa.types.is_nested(kind) else ()
    return pa.types.is_dictionary(kind) or any(_refers(kind.field(index).type) for index in inner)


def _plain_type(kind: Any) -> Any:
    """Returns a type with values in place of dictionaries, at any depth."""
    types = pa.types
    if types.is_dictionary(kind):
        return kind.value_type
    if not _refers(kind):
        return kind
    fields = [kind.field(index).with_type(_plain_type(kind.field(index).type)) for index in range(kind.num_fields)]
    if types.is_struct(kind):
        return pa.struct(fields)
    if types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(fields[0], kind.list_size)
    return pa.large_list(fields[0]) if types.is_large_list(kind) else pa.list_(fields[0])


def _stored_bytes(columns: Iterable[Any]) -> int:
    """Returns the bytes of columns, with those of each value of a dictionary as often as rows refer to it."""
    return sum(map(_column_bytes, columns))


def _column_bytes(column: Any) -> int:
    if isinstance(column, pa.ExtensionArray):
        return _column_bytes(column.storage)
    if pa.types.is_dictionary(column.type):
        lengths = pc.cast(pc.binary_length(column.dictionary), pa.int64())
        return int(column.indices.nbytes) + int(pc.sum(lengths.take(column.indices)).as_py() or 0)
    if not _refers(column.type):
        return int(column.nbytes)
    return _REFERENCE_BYTES * len(column) + _stored_bytes(below(column))


def _rows(batch: Any, limit: int) -> Iterator[dict[str, object] | None]:
    """Yields the values of each row by column; None for a row of more than `limit` bytes, which is not converted."""
    if _bytes(batch) <= limit:
        yield from _values(batch)
        return
    for index in range(batch.num_rows):
        row = batch.slice(index, 1)
        yield from _values(row) if _bytes(row) <= limit else (None,)


def _bytes(batch: Any) -> int:
    return _stored_bytes(batch.columns) + INNER_VALUE_BYTES * sum(map(_inner_values, batch.columns))


def _inner_values(column: Any) -> int:
    """Returns the number of values in the lists, objects and maps of a column, at every depth."""
    if isinstance(column, pa.ExtensionArray):
        return _inner_values(column.storage)
    if not pa.types.is_nested(column.type):
        return 0
    return sum(len(inner) + _inner_values(inner) for inner in below(column))


def below(column: Any) -> list[Any]:
    """Returns the arrays of values in a column of lists, objects or maps."""
    if pa.types.is_map(column.type):
        first, last = column.offsets[0].as_py(), column.offsets[-1].as_py()
        return [column.keys.slice(first, last - first), column.items.slice(first, last - first)]
    below = column.flatten()
    return below if isinstance(below, list) else [below]


def _values(batch: Any) -> Iterator[dict[str, object]]:
    names = batch.schema.names
    columns = [_column_values(column) for column in batch.columns]
    for values in zip(*columns, strict=True) if columns else repeat((), batch.num_rows):
        yield dict(zip(names, values, strict=True))


def _column_values(column: Any) -> list[object]:
    """Returns the Python values of a column; a value that cannot be converted is replaced by its `RowError`."""
    try:
        return list(column.to_pylist())
    except _UNCONVERTED:
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> object:
    try:
        return scalar.as_py()
    except UnicodeDecodeError as fault:
        return RowError("invalid_utf8", f"column value: {fault.reason}")
    except _UNCONVERTED as fault:
        raise_machine_fault(f"a column value of type {scalar.type}", fault)
        return RowError("bad_value", f"column value of type {scalar.type}: {fault}")
