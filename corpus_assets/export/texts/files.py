"""Files of rows: JSON lines, plain or compressed, and Parquet. Memory is that of a block of rows."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import Any, BinaryIO

import msgspec
import pyarrow as pa
from pyarrow import parquet

from corpus_assets.config.datasets.text_exports import TextExport
from corpus_assets.export.texts.columns import arrow_schema
from corpus_assets.export.texts.rows import Row, Values
from resources.formats.codecs import open_gzip, open_zstd
from resources.formats.writers import BinaryWriter
from resources.stage.task import Task

GROUP_BYTES = 1 << 23
"""Bytes of text of a row group of Parquet, unless one row has more."""
GROUP_ROWS = 1 << 14
READ_ROWS = 256
_LINE = msgspec.json.Encoder()
_DECODED = msgspec.json.Decoder(dict[str, Any])

Write = Callable[[Row], None]


def write_rows(task: Task, path: str, section: TextExport, rows: Iterable[Row]) -> int:
    """Writes the rows of a partition to one file, whose suffix is added to `path`; none if there are no rows.

    Returns how many there are.
    """
    given, count = iter(rows), 0
    for first in given:
        with _WRITERS[section.files](task, f"{path}.{section.files}", section) as write:
            for row in chain([first], given):
                write(row)
                count += 1
    return count


@contextmanager
def _plain(task: Task, path: str, _: TextExport) -> Iterator[Write]:
    with task.binary(path) as file:
        yield lambda row: file.write(encode_row(row.values), 1)


@contextmanager
def _gzip(task: Task, path: str, _: TextExport) -> Iterator[Write]:
    with task.lines(path) as lines:
        yield lambda row: lines.write(encode_row(row.values))


@contextmanager
def _zstd(task: Task, path: str, _: TextExport) -> Iterator[Write]:
    with ExitStack() as stack:
        file = stack.enter_context(task.binary(path))
        # One frame: readers built on zstandard's stream_reader end silently with the first.
        packed = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(Sink(file), mode="w"), "zstd"))

        def write(row: Row) -> None:
            packed.write(encode_row(row.values))
            file.write(b"", 1)

        yield write


@contextmanager
def _parquet(task: Task, path: str, section: TextExport) -> Iterator[Write]:
    schema = arrow_schema(section)
    with ExitStack() as stack:
        file = stack.enter_context(task.binary(path))
        table = stack.enter_context(
            parquet.ParquetWriter(
                Sink(file),
                schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=["source"],
                write_page_checksum=True,
            )
        )
        held: list[Values] = []
        size = 0

        def flush() -> None:
            table.write_table(pa.Table.from_pylist(held, schema=schema))
            file.write(b"", len(held))
            held.clear()

        def write(row: Row) -> None:
            nonlocal size
            held.append(row.values)
            size += row.size
            if size >= GROUP_BYTES or len(held) >= GROUP_ROWS:
                flush()
                size = 0

        yield write
        if held:
            flush()


_WRITERS = {"jsonl": _plain, "jsonl.gz": _gzip, "jsonl.zst": _zstd, "parquet": _parquet}


class Sink:
    """A file as pyarrow writes to one; the task closes it."""

    closed = False

    def __init__(self, file: BinaryWriter) -> None:
        self._file = file

    def write(self, content: Any) -> int:
        """Adds bytes, and returns how many."""
        self._file.write(content)
        return memoryview(content).nbytes

    def flush(self) -> None:
        """Does nothing: the task sees to that."""

    def close(self) -> None:
        """Does nothing: the task sees to that."""


def encode_row(values: Values) -> bytes:
    """Returns a row as a JSON line, newline included."""
    return _LINE.encode(values) + b"\n"


def read_rows(file: BinaryIO, suffix: str) -> Iterator[Values]:
    """Yields the rows of an open file; columns of Parquet without a value are left out, as in JSON lines."""
    if suffix == "parquet":
        table = parquet.ParquetFile(file, pre_buffer=False, page_checksum_verification=True)
        for batch in table.iter_batches(READ_ROWS, use_threads=False):
            yield from ({key: one for key, one in row.items() if one is not None} for row in batch.to_pylist())
        return
    opened: Callable[[BinaryIO], Any] = {"jsonl.gz": open_gzip, "jsonl.zst": open_zstd}.get(suffix, lambda raw: raw)
    yield from map(_DECODED.decode, opened(file))


def as_read(values: Values, section: TextExport) -> Values:
    """Returns a row as `read_rows` gives it when it was written right."""
    if not section.is_table:
        return _DECODED.decode(encode_row(values))
    (row,) = pa.Table.from_pylist([values], schema=arrow_schema(section)).to_pylist()
    return {key: one for key, one in row.items() if one is not None}
