"""The rows that `corpus show --row` asks for, read with the index of their file if it has one."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from resources.errors import ConfigError
from resources.formats.arrays import ARRAYS, shown
from resources.formats.hdf5.reader import HDF5
from resources.formats.jsonl.lines import LINES
from resources.formats.jsonl.members import table_path
from resources.formats.known import format_of
from resources.formats.segments import ZSTD_ROWS
from resources.ledger.ledger import FileRecord, Record
from resources.stage.partition import Partition
from resources.storage.interface import Storage

_ARRAY_ROWS = 1024
"""Rows of an array that are read at a time."""

_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?")
_WITH_ROWS = (*LINES, ZSTD_ROWS, HDF5)


def given(asked: Sequence[str]) -> list[range] | None:
    """Returns the requested rows, in order and each once; None if there are none.

    `ConfigError` for a value that is no row.
    """
    found: list[range] = []
    for one in sorted(map(_parsed, asked), key=lambda rows: rows.start):
        if found and one.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return found or None


def _parsed(text: str) -> range:
    if (matched := _RANGE.fullmatch(text)) is not None:
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if first <= last:
            return range(first, last + 1)
    raise ConfigError(f"--row {text!r}: valid is a row, N, or a range with its last row, N-M; rows count from 0")


def files_with_rows(record: Record, rows: Sequence[range]) -> list[FileRecord]:
    """Returns the files of a partition that hold its rows: JSON lines or token rows; arrays if it has neither.

    `ConfigError` if there are none, or a row lies beyond the end of all of them.
    """
    own = [file for file in record.files if file.rows is not None and not file.derived]
    found = [file for file in own if format_of(file.path) in _WITH_ROWS]
    found = found or [file for file in own if format_of(file.path) is ARRAYS]
    if not found:
        held = ", ".join(file.path for file in record.files) or "no file"
        raise ConfigError(
            f"--row: {record.asset} has no rows in {held}; valid are assets of documents, tokens or arrays"
        )
    longest = max(found, key=lambda file: file.rows or 0)
    if rows[-1].stop > (longest.rows or 0):
        valid = f"0 to {longest.rows - 1}" if longest.rows else "none"
        raise ConfigError(f"--row {rows[-1].stop - 1}: {longest.path} has {longest.rows} rows; valid: {valid}")
    return found


def within(rows: Sequence[range], total: int) -> list[range]:
    """Returns the part of the ranges that a file with so many rows has."""
    return [range(one.start, min(one.stop, total)) for one in rows if one.start < total]


def rows_of(storage: Storage, record: Record, file: FileRecord, rows: Sequence[range]) -> Iterator[str]:
    """Yields given rows of a file of JSON lines or of an array.

    Reads no other part of an array, nor of lines with a table of members; other lines are read from their start.
    """
    partition, total = Partition(storage, record), file.rows or 0
    if format_of(file.path) is ARRAYS:
        return _array_rows(partition, file, within(rows, total))
    if partition.has(table_path(file.path)):
        return _by_members(partition, file, within(rows, total))
    return _from_the_start(storage, file, within(rows, total))


def _array_rows(partition: Partition, file: FileRecord, rows: Sequence[range]) -> Iterator[str]:
    for one in rows:
        for start in range(one.start, one.stop, _ARRAY_ROWS):
            yield from map(shown, partition.array_rows(file.path, start, min(one.stop, start + _ARRAY_ROWS)))


def _by_members(partition: Partition, file: FileRecord, rows: Sequence[range]) -> Iterator[str]:
    chosen = np.zeros(file.rows or 0, dtype=np.bool_)
    for one in rows:
        chosen[one.start : one.stop] = True
    for member, picked in partition.members(chosen, file.path):
        for line, wanted in zip(member.lines(), picked.tolist(), strict=True):
            if wanted:
                yield line.decode("utf-8", "replace").rstrip("\n")


def _from_the_start(storage: Storage, file: FileRecord, rows: Sequence[range]) -> Iterator[str]:
    last = rows[-1].stop if rows else 0
    lines = enumerate(format_of(file.path).preview(storage.open, file.path, last))
    return (line for number, line in lines if any(number in one for one in rows))
