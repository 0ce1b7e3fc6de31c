"""Reads the rows of CSV and TSV (RFC 4180), with bounded memory per row."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from corpus_assets.raw.faults import BadRow, RowError
from corpus_assets.raw.formats import UTF8_BOM, check_utf8_start
from corpus_assets.raw.rules import FormatOptions, RowParser
from resources.errors import BadFileError

Row = TypeVar("Row")


@dataclass(frozen=True)
class Layout:
    """How a table is written. columns: names of its columns; None if the first row names them."""

    delimiter: str
    quote: str | None
    columns: tuple[str, ...] | None

    @classmethod
    def of(cls, kind: str, options: FormatOptions) -> "Layout":
        """Returns the layout of a format, as the options of its source have it."""
        usual = "\t" if kind.startswith("tsv") else ","
        return cls(options.delimiter or usual, options.quote, options.columns)


class _TextLines:
    r"""The lines of a stream as text, each with its `\n`; counts them, and the bytes of the present row.

    A byte that is not UTF-8 becomes a lone surrogate, so that the row is still found to its end.
    """

    def __init__(self, stream: io.BufferedReader, limit: int, where: str) -> None:
        self._stream = stream
        self._limit = limit
        self._where = where
        self._row_bytes = 0
        self.first = 1  # the line that the present row begins in
        self.number = 0

    def begin_row(self) -> None:
        self._row_bytes = 0
        self.first = self.number + 1

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._limit - self._row_bytes + 1)
        if not line:
            raise StopIteration
        self._row_bytes += len(line)
        if self._row_bytes > self._limit:
            raise BadFileError(
                f"{self._where} line {self.first}",
                f"the row is over the limit of {self._limit} bytes (`longest_row`); is a quote in it never closed?",
            )
        self.number += 1
        if self.number == 1:
            check_utf8_start(self._where, line)
            line = line.removeprefix(UTF8_BOM)
        return line.decode("utf-8", "surrogateescape")

    def place(self) -> str:
        """Returns where the present row is, for messages."""
        last = f" to {self.number}" if self.number > self.first else ""
        return f"{self._where} line {self.first}{last}"


def read_rows(
    stream: io.BufferedReader, parser: RowParser[Row], layout: Layout, limit: int, where: str
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from a table, and bad rows; blank lines and a byte order mark are skipped.

    A bad row has another number of values than there are columns (`ragged_row`), text after a closing quote
    (`bad_quotes`), NUL (`nul`) or bytes that are not UTF-8. Raises `BadFileError` for a header that cannot be used, a
    row of more than `limit` bytes, and a quote that is open at the end, which may hide any number of rows.
    """
    lines = _TextLines(stream, limit, where)
    rows = _rows(lines, layout, limit)
    columns: Sequence[str] | None = layout.columns
    if columns is None:
        header = next(rows, None)
        if header is None:
            return
        if isinstance(header, RowError):
            raise BadFileError(lines.place(), f"the header cannot be read: {header}")
        columns = header
    _check_columns(columns, parser, where)
    for row in rows:
        values: dict[str, object] = {"": row} if isinstance(row, RowError) else _values(columns, row)
        try:
            yield parser.from_values(values, where)
        except RowError as error:
            yield error.at(lines.place())


def _rows(lines: _TextLines, layout: Layout, limit: int) -> Iterator[list[str] | RowError]:
    """Yields the values of every row that is not blank, or why they are not to be had."""
    if csv.field_size_limit() < limit:
        csv.field_size_limit(limit)  # it is one for the whole process; the lines keep the limit of this file
    reader = csv.reader(
        lines,
        delimiter=layout.delimiter,
        quotechar=layout.quote,
        quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        lines.begin_row()
        try:
            row = next(reader, None)
        except csv.Error as fault:
            if "unexpected end of data" in str(fault):
                raise BadFileError(f"{lines.place()}", "a quote is open where the file ends") from None
            yield RowError("bad_quotes", str(fault))
            continue
        if row is None:
            return
        if row:
            yield row


def _values(columns: Sequence[str], row: list[str]) -> dict[str, object]:
    """Returns the values of a row by column; a value that cannot be used is replaced by its `RowError`."""
    if len(row) != len(columns):
        return {"": RowError("ragged_row", f"{len(row)} values for {len(columns)} columns")}
    return {name: _checked(name, value) for name, value in zip(columns, row, strict=True)}


def _checked(name: str, value: str) -> str | RowError:
    if "\0" in value:
        return RowError("nul", f"column {name!r} holds a NUL character")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as fault:
            return RowError("invalid_utf8", f"column {name!r}: byte 0x{ord(value[fault.start]) - 0xDC00:02x}")
    return value


def _check_columns(columns: Sequence[str], parser: RowParser[Row], where: str) -> None:
    """Raises `BadFileError` unless every column has a name of its own, and those that are needed are there."""
    shown = ", ".join(map(repr, columns))
    if len(set(columns)) != len(columns):
        raise BadFileError(where, f"two columns with one name; columns: {shown}")
    if faulty := [value for name in columns if isinstance(value := _checked(name, name), RowError)]:
        raise BadFileError(where, f"the header cannot be read: {faulty[0]}")
    for group in parser.required:
        if not set(group) & set(columns):
            raise BadFileError(where, f"no column {' or '.join(map(repr, group))}; columns: {shown}")
