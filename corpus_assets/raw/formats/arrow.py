"""Reads the rows of Arrow files and streams, batch by batch; memory does not depend on sizes that the file claims."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, TypeVar

import numpy as np
import pyarrow as pa

from corpus_assets.raw.formats.arrow_messages import Allowance, CheckedMessages
from corpus_assets.raw.formats.columns import (
    BATCH_BYTES,
    MAX_BATCH_ROWS,
    below,
    check_schema,
    is_textual,
    parsed_rows,
    plain,
    wanted,
)
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.rows.rules import Limits, RowParser
from resources.errors import BadFileError

Row = TypeVar("Row")

MAX_BATCH_ROW_LENGTHS: Final = 4
"""Largest record batch after decompression, as a multiple of the longest row."""

_OF_BYTES: Final = (
    *((pa.string(), pa.binary()), (pa.large_string(), pa.large_binary()), (pa.string_view(), pa.binary_view())),
)
"""Types of bytes that have the buffers of those of strings."""


def read_rows(raw: BinaryIO, parser: RowParser[Row], limits: Limits, where: str) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from an Arrow file or stream, and bad rows, as from a parquet file.

    Raises `BadFileError` for another schema, for a stream without its end, for batches, dictionaries and values that
    are too large, and for columns whose values may share bytes (views of lists, run ends, unions, dictionaries in
    lists); `pyarrow.ArrowException` for a damaged file.
    """
    stored_bytes = raw.seek(0, 2)
    raw.seek(0)
    if not stored_bytes:
        raise BadFileError(where, "is empty: an Arrow file has a schema")
    allowance = Allowance(MAX_BATCH_ROW_LENGTHS * limits.line_bytes, limits.decompressed(stored_bytes))
    messages = CheckedMessages(raw, where, stored_bytes, allowance)
    reader = pa.ipc.open_stream(messages)
    with _names_of(where):
        check_schema(reader.schema, parser, where)
        names = wanted(reader.schema.names, parser)
        for name in names:
            _check_type(reader.schema.field(name).type, f"column {name!r}", where)
    batches = _slices(reader, names, allowance.batch_bytes, where)
    yield from parsed_rows(batches, parser, limits, where, stored_bytes)


@contextmanager
def _names_of(where: str) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as fault:
        raise BadFileError(where, f"a column has a name that is no UTF-8: {fault.object[:40]!r}") from None


def _check_type(kind: Any, what: str, where: str, *, inside: bool = False) -> None:
    """Raises `BadFileError` for a type whose values can take far more memory than their bytes."""
    types = pa.types
    shared = types.is_union(kind) or types.is_run_end_encoded(kind) or types.is_list_view(kind)
    if shared or types.is_large_list_view(kind) or (inside and types.is_dictionary(kind)):
        raise BadFileError(where, f"{what} has type {kind}, which is not read; write it as a list or as plain values")
    if isinstance(kind, pa.BaseExtensionType):
        _check_type(kind.storage_type, what, where, inside=inside)
    elif types.is_dictionary(kind):
        if not is_textual(kind) and types.is_nested(kind.value_type):
            raise BadFileError(where, f"{what} has type {kind}, which is not read; write it as plain values")
    elif types.is_nested(kind):
        for index in range(kind.num_fields):
            inner = kind.field(index)
            _check_type(inner.type, f"{what} key {inner.name!r}", where, inside=True)


def _slices(reader: Any, names: list[str], most_bytes: int, where: str) -> Iterator[Any]:
    """Yields all rows in record batches of up to `MAX_BATCH_ROWS`, and of about `BATCH_BYTES`."""
    for batch in reader:
        columns = [_sound(batch.column(name), most_bytes, where) for name in names]
        rows = min([MAX_BATCH_ROWS, *(BATCH_BYTES // _longest(column) for column in columns)])
        for start in range(0, batch.num_rows, max(rows, 1)):
            pieces = [plain(column.slice(start, max(rows, 1))) for column in columns]
            yield pa.RecordBatch.from_arrays(pieces, names=names) if names else _nameless(batch, start, rows)


def _nameless(batch: Any, start: int, rows: int) -> Any:
    """Returns rows without values, for a parser that reads no column."""
    return pa.RecordBatch.from_struct_array(pa.array([{}] * min(rows, batch.num_rows - start), pa.struct([])))


def _longest(column: Any) -> int:
    """Returns the bytes of the longest value that the rows of a column may share, at least 1."""
    if not pa.types.is_dictionary(column.type):
        return 1
    values = column.dictionary
    if is_textual(values.type):
        import pyarrow.compute as pc

        return int(pc.max(pc.binary_length(values)).as_py() or 1)
    return max(int(values.nbytes), 1)


def _sound(column: Any, most_bytes: int, where: str) -> Any:
    """Returns a column whose buffers are proved to fit its type, with texts that are stored one after another.

    A string that is no UTF-8 passes, as its row alone is bad; within lists and objects it is a fault of the file.
    """
    of_bytes = next((other for kind, other in _OF_BYTES if column.type == kind), column.type)
    sound = column.view(of_bytes) if of_bytes != column.type else column
    sound.validate(full=True)
    stored = _without_views(of_bytes)
    if stored != of_bytes:
        if _viewed_bytes(sound) > most_bytes:
            raise BadFileError(
                where, f"texts of a record batch have more than {most_bytes} bytes; write smaller batches"
            )
        sound = sound.cast(stored)
    return (
        sound.view(pa.large_string() if stored == pa.large_binary() else column.type)
        if _is_text(column.type)
        else sound
    )


def _is_text(kind: Any) -> bool:
    return any(kind == text for text, _ in _OF_BYTES)


def _without_views(kind: Any) -> Any:
    """Returns a type with large strings and bytes in place of views, which may share their bytes, at any depth."""
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_struct(kind):
        return pa.struct([_field_without_views(kind.field(index)) for index in range(kind.num_fields)])
    if types.is_large_list(kind):
        return pa.large_list(_field_without_views(kind.value_field))
    if types.is_list(kind):
        return pa.list_(_field_without_views(kind.value_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(_field_without_views(kind.value_field), kind.list_size)
    if types.is_map(kind):
        return pa.map_(_without_views(kind.key_type), _field_without_views(kind.item_field), kind.keys_sorted)
    return kind


def _field_without_views(field: Any) -> Any:
    return field.with_type(_without_views(field.type))


def _viewed_bytes(column: Any) -> int:
    """Returns the bytes of all values of views in a column, at any depth; values of null may count."""
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        views = column.buffers()[1]
        lengths = np.frombuffer(views, "<i4")[::4] if views else np.empty(0, np.int32)
        return int(lengths[column.offset : column.offset + len(column)].sum(dtype=np.int64))
    return sum(map(_viewed_bytes, below(column))) if pa.types.is_nested(column.type) else 0
