"""Reads the rows of a parquet file, batch by batch; memory does not depend on sizes that the file claims."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import groupby, product
from typing import Any, BinaryIO, Final, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.raw.formats.columns import BATCH_BYTES, MAX_BATCH_ROWS, check_schema, parsed_rows, plain, wanted
from corpus_assets.raw.formats.parquet_pages import (
    DICTIONARY_HEAD_BYTES,
    CheckedPages,
    Chunk,
    PageError,
    WithheldError,
    page_header,
)
from corpus_assets.raw.rows.faults import BadRow
from corpus_assets.raw.rows.rules import Limits, RowParser
from resources.errors import BadFileError

Row = TypeVar("Row")

MAX_PAGE_ROWS: Final = 4
"""Largest page after decompression, as a multiple of the longest row."""
_REFERENCE_BYTES: Final = 8


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
    check_schema(file.schema_arrow, parser, where)
    names = wanted(file.schema_arrow.names, parser)
    groups = _groups(file, names, pages)
    _check_sizes(groups, limits.decompressed(stored_bytes), where)
    pages.chunks = {chunk.start: chunk for group in groups if group.rows for chunk in group.chunks}
    number = 0
    batches = _batches(file, groups, names, raw) if names else _empty_batches(groups)
    for row in parsed_rows(batches, parser, limits, where, stored_bytes):
        number += 1
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


class _Group(NamedTuple):
    """A row group: its number of rows, and the chunks of the columns that are read, with their dictionaries."""

    rows: int
    chunks: list[Chunk]


def _groups(file: Any, names: Collection[str], pages: CheckedPages) -> list[_Group]:
    metadata = file.metadata
    paths = [file.schema.column(index).path for index in range(metadata.num_columns)]
    chosen = [index for index, path in enumerate(paths) if _is_of(path, names)]
    pages.withheld = True
    for group, index in product(range(metadata.num_row_groups), chosen):
        _try_chunk(file, group, paths[index])
    pages.withheld = False
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    in_lists = {index for index in chosen if file.schema.column(index).max_repetition_level}
    return [
        _Group(group.num_rows, [Chunk.of(group.column(index), in_lists=index in in_lists) for index in chosen])
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
            columns = [plain(column) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _empty_batches(groups: Sequence[_Group]) -> Iterator[Any]:
    """Yields all rows without values, for a parser that reads no column."""
    for group in groups:
        yield pa.RecordBatch.from_struct_array(pa.array([{}] * group.rows, pa.struct([])))


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
