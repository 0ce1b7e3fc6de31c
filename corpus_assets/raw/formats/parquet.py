"""Reads the rows of a parquet file, batch by batch; memory does not depend on sizes that the file claims."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, product, repeat
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.raw.formats.parquet_pages import (
    DICTIONARY_HEAD_BYTES,
    CheckedPages,
    Chunk,
    PageError,
    WithheldError,
    page_header,
)
from corpus_assets.raw.rows.faults import BadRow, RowError, shown_names
from corpus_assets.raw.rows.rules import Limits, RowParser, missing_column
from resources.errors import BadFileError

Row = TypeVar("Row")

BATCH_BYTES: Final = 128 << 20
MAX_BATCH_ROWS: Final = 256
MAX_PAGE_ROWS: Final = 4
"""Largest page after decompression, as a multiple of the longest row."""
INNER_VALUE_BYTES: Final = 32
"""Bytes that each value in a list, object or map counts besides its own: it may be stored in zero bytes, and becomes a
Python object when its row is read.
"""
_REFERENCE_BYTES: Final = 8
FREE_VALUE_BYTES: Final = 4 << 30
"""Bytes of values that a file of any size may hold, since rows may share a value that is stored once."""
_UNCONVERTED: Final = (ValueError, OverflowError, LookupError, OSError)  # the latter two for unknown time zones


def read_rows(raw: BinaryIO, parser: RowParser[Row], limits: Limits, where: str) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from a parquet file, and bad rows.

    The parser's textual columns may be string, binary that is UTF-8, or a dictionary of these, in any width. Only the
    columns that the parser wants are read. A row whose values have more than `limits.line_bytes` is bad. Raises
    `BadFileError` for another schema, for names that are no UTF-8, and for pages or values that are too large for the
    file; `pyarrow.ArrowException` or `OSError` for a damaged file.
    """
    stored_bytes = raw.seek(0, 2)
    raw.seek(0)
    pages = CheckedPages(raw, where, MAX_PAGE_ROWS * limits.line_bytes)
    file = _opened(pages, where)
    _check_schema(file.schema_arrow, parser, where)
    names = _wanted(file.schema_arrow.names, parser)
    groups = _groups(file, names, pages)
    _check_sizes(groups, limits.decompressed(stored_bytes), where)
    pages.chunks = {chunk.start: chunk for group in groups if group.rows for chunk in group.chunks}
    number = 0
    most_bytes = max(FREE_VALUE_BYTES, limits.decompressed(stored_bytes))
    batches = _batches(file, groups, names, raw) if names else _empty_batches(groups)
    for batch in batches:
        most_bytes -= batch.nbytes
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
    if number != file.metadata.num_rows:
        raise BadFileError(where, f"{number} rows read where the footer promises {file.metadata.num_rows}")


def _opened(pages: CheckedPages, where: str) -> Any:
    """Returns the file after a check that all column names, also nested ones, are UTF-8."""
    try:
        file = pq.ParquetFile(pages, pre_buffer=False, page_checksum_verification=True)
        str(file.schema_arrow)
    except UnicodeDecodeError as fault:
        raise BadFileError(where, f"a column has a name that is no UTF-8: {fault.object[:40]!r}") from None
    return file


def _wanted(names: Sequence[str], parser: RowParser[Row]) -> list[str]:
    """Returns the columns to read; all if a requested one is missing, so that the error can list them."""
    missing = any(set(group) - set(names) for group in parser.required)
    return [name for name in names if parser.columns is None or missing or name in parser.columns]


def _check_schema(schema: Any, parser: RowParser[Row], where: str) -> None:
    columns = shown_names(schema.names) or "none"
    if len(set(schema.names)) != len(schema.names):
        raise BadFileError(where, f"two columns with one name; columns: {columns}")
    if missing := missing_column(parser, schema.names):
        raise BadFileError(where, f"{missing}; columns: {columns}")
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


class _Group(NamedTuple):
    """A row group: its number of rows, and the chunks of the columns that are read, with their dictionaries."""

    rows: int
    chunks: list[Chunk]


def _groups(file: Any, names: Collection[str], pages: CheckedPages) -> list[_Group]:
    metadata = file.metadata
    paths = [file.schema.column(index).path for index in range(metadata.num_columns)]
    wanted = [index for index, path in enumerate(paths) if _is_of(path, names)]
    pages.withheld = True
    for group, index in product(range(metadata.num_row_groups), wanted):
        _try_chunk(file, group, paths[index])
    pages.withheld = False
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    in_lists = {index for index in wanted if file.schema.column(index).max_repetition_level}
    return [
        _Group(group.num_rows, [Chunk.of(group.column(index), in_lists=index in in_lists) for index in wanted])
        for group in groups
    ]


def _try_chunk(file: Any, group: int, path: str) -> None:
    """Lets a reader open a chunk without reading it; `OSError` if the footer describes it wrongly.

    Reading it directly would make the library abort the process.
    """
    with suppress(WithheldError):
        next(file.iter_batches(batch_size=1, row_groups=[group], columns=[path], use_threads=False), None)


def _is_of(path: str, names: Collection[str]) -> bool:
    """Returns whether a leaf belongs to one of the columns; names themselves may contain dots."""
    return any(path[:end] in names for end in (*(dot.start() for dot in re.finditer(r"\.", path)), len(path)))


def _check_sizes(groups: Sequence[_Group], allowed: int, where: str) -> None:
    chunks = [chunk for group in groups for chunk in group.chunks]
    if any(min(chunk) < 0 for chunk in chunks):
        raise BadFileError(where, "the footer has a size below 0")
    if sum(max(chunk.decompressed, chunk.inner_values * _REFERENCE_BYTES) for chunk in chunks) > allowed:
        raise BadFileError(where, f"decompresses to more than the {allowed} bytes allowed for its size")


def _batches(file: Any, groups: Sequence[_Group], names: Sequence[str], raw: BinaryIO) -> Iterator[Any]:
    """Yields all rows as record batches of at most about `BATCH_BYTES`, if the rows of a group have similar sizes."""
    for rows, run in groupby(range(len(groups)), lambda index: _batch_rows(groups[index], raw)):
        for batch in file.iter_batches(batch_size=rows, row_groups=list(run), columns=names, use_threads=False):
            columns = [_plain(column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _empty_batches(groups: Sequence[_Group]) -> Iterator[Any]:
    """Yields all rows without values, for a parser that reads no column."""
    for group in groups:
        yield pa.RecordBatch.from_struct_array(pa.array([{}] * group.rows, pa.struct([])))


def _plain(column: Any) -> Any:
    """Returns a column without a dictionary, so that its bytes are those of its rows only."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _batch_rows(group: _Group, raw: BinaryIO) -> int:
    """Returns the rows of a batch, a power of two, as if every row had the longest dictionary values."""
    row_bytes = sum(chunk.decompressed for chunk in group.chunks) // max(group.rows, 1)
    row_bytes += sum(_dictionary_bytes(chunk, raw) for chunk in group.chunks)
    rows = BATCH_BYTES // max(row_bytes, 1)
    return 1 << min(max(rows, 1), MAX_BATCH_ROWS).bit_length() - 1


def _dictionary_bytes(chunk: Chunk, raw: BinaryIO) -> int:
    """Returns the bytes of the values that the rows of a chunk may share."""
    if not chunk.has_dictionary or chunk.decompressed <= BATCH_BYTES // MAX_BATCH_ROWS // 4:
        return 0
    raw.seek(chunk.start)
    try:
        page = page_header(raw.read(DICTIONARY_HEAD_BYTES))
    except PageError:
        return chunk.decompressed
    return page.decompressed


def _rows(batch: Any, limit: int) -> Iterator[dict[str, object] | None]:
    """Yields the values of each row by column; None for a row of more than `limit` bytes, which is not converted."""
    if _bytes(batch) <= limit:
        yield from _values(batch)
        return
    for index in range(batch.num_rows):
        row = batch.slice(index, 1)
        yield from _values(row) if _bytes(row) <= limit else (None,)


def _bytes(batch: Any) -> int:
    return int(batch.nbytes) + INNER_VALUE_BYTES * sum(map(_inner_values, batch.columns))


def _inner_values(column: Any) -> int:
    """Returns the number of values in the lists, objects and maps of a column, at every depth."""
    if isinstance(column, pa.ExtensionArray):
        return _inner_values(column.storage)
    if not pa.types.is_nested(column.type):
        return 0
    return sum(len(inner) + _inner_values(inner) for inner in _below(column))


def _below(column: Any) -> list[Any]:
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
        return RowError("bad_value", f"column value of type {scalar.type}: {fault}")
