"""Reads the rows of a parquet file, batch by batch; memory does not depend on sizes that the file claims."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from typing import Any, BinaryIO, Final, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from corpus_assets.raw.formats.columns import check_schema, parsed_rows, plain_batch, wanted
from corpus_assets.raw.formats.parquet_batches import Batches, Group, Run
from corpus_assets.raw.formats.parquet_pages import CheckedPages, Chunk, WithheldError
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
    planned = Batches(pages, partial(_codec, file, pages), MAX_PAGE_ROWS * limits.line_bytes, where).runs(groups)
    batches = _batches(pages, file, planned, names, where) if names else _empty_batches(groups)
    for row in parsed_rows(batches, parser, limits, where, stored_bytes):
        number += 1
        yield row
    if number != file.metadata.num_rows:
        raise BadFileError(where, f"{number} rows read where the footer promises {file.metadata.num_rows}")


def _opened(pages: CheckedPages, where: str, metadata: Any = None, shared: Sequence[str] = ()) -> Any:
    """Returns the file after a check that all column names, also nested ones, are UTF-8.

    metadata: its footer if it was read before. shared: columns whose values are read as references to a dictionary.
    """
    try:
        file = pq.ParquetFile(
            pages, metadata=metadata, read_dictionary=shared, pre_buffer=False, page_checksum_verification=True
        )
        str(file.schema_arrow)
    except UnicodeDecodeError as fault:
        raise BadFileError(where, f"a column has a name that is no UTF-8: {fault.object[:40]!r}") from None
    return file


def _groups(file: Any, names: Collection[str], pages: CheckedPages) -> list[Group]:
    metadata = file.metadata
    leaves = [file.schema.column(index) for index in range(metadata.num_columns)]
    chosen = [index for index, leaf in enumerate(leaves) if _is_of(leaf.path, names)]
    pages.withheld = True
    for group, index in product(range(metadata.num_row_groups), chosen):
        _try_chunk(file, group, leaves[index].path)
    pages.withheld = False
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [
        Group(group.num_rows, [Chunk.of(group.column(index), leaves[index]) for index in chosen]) for group in groups
    ]


def _try_chunk(file: Any, group: int, path: str) -> None:
    """Lets a reader open a chunk without reading it; `OSError` if the footer describes it wrongly.

    Reading it directly would make the library abort the process.
    """
    with suppress(WithheldError):
        next(file.iter_batches(batch_size=1, row_groups=[group], columns=[path], use_threads=False), None)


def _codec(file: Any, pages: CheckedPages, group: int, path: str) -> str:
    """Returns how the pages of a column are compressed; `OSError` for a way that there is not.

    Asking the footer for it would make the library abort the process, so a reader first meets it over blank pages.
    """
    pages.blank = True
    try:
        next(file.iter_batches(batch_size=1, row_groups=[group], columns=[path], use_threads=False), None)
    except OSError as fault:
        if "codec" in str(fault):
            raise
    finally:
        pages.blank = False
    index = [file.schema.column(index).path for index in range(file.metadata.num_columns)].index(path)
    return str(file.metadata.row_group(group).column(index).compression)


def _is_of(path: str, names: Collection[str]) -> bool:
    """Returns whether a leaf belongs to one of the columns; names themselves may contain dots."""
    return any(path[:end] in names for end in (*(dot.start() for dot in re.finditer(r"\.", path)), len(path)))


def _check_sizes(groups: Sequence[Group], allowed: int, where: str) -> None:
    chunks = [chunk for group in groups for chunk in group.chunks]
    if any(min(chunk.start, chunk.stored, chunk.decompressed, chunk.inner_values) < 0 for chunk in chunks):
        raise BadFileError(where, "the footer has a size below 0")
    if sum(max(chunk.decompressed, chunk.inner_values * _REFERENCE_BYTES) for chunk in chunks) > allowed:
        raise BadFileError(where, f"decompresses to more than the {allowed} bytes allowed for its size")


def _batches(pages: CheckedPages, file: Any, planned: Iterable[Run], names: Sequence[str], where: str) -> Iterator[Any]:
    """Yields the record batches of all runs, without dictionaries where these are not needed to hold the values."""
    for run in planned:
        reader = _opened(pages, where, file.metadata, run.shared) if run.shared else file
        for batch in reader.iter_batches(run.rows, row_groups=list(run.groups), columns=names, use_threads=False):
            yield plain_batch(batch)


def _empty_batches(groups: Sequence[Group]) -> Iterator[Any]:
    """Yields all rows without values, for a parser that reads no column."""
    for group in groups:
        yield pa.RecordBatch.from_struct_array(pa.array([{}] * group.rows, pa.struct([])))
