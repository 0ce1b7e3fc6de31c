"""Reads the rows of CSV and TSV (RFC 4180), with bounded memory per row."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from corpus_assets.raw.formats.table_lines import Escape, TextLines
from corpus_assets.raw.rows.faults import BadRow, RowError, shown_names
from corpus_assets.raw.rows.rules import FormatOptions, RowParser, missing_column
from resources.errors import BadFileError

Row = TypeVar("Row")


@dataclass(frozen=True)
class Layout:
    """The syntax of a table.

    columns: names of its columns; None if the first row names them. escape: a character that makes the next one part of
    a value (see `Escape`); None if there is none.
    """

    delimiter: str
    quote: str | None
    columns: tuple[str, ...] | None
    escape: str | None = None

    @classmethod
    def of(cls, kind: str, options: FormatOptions) -> "Layout":
        """Returns the layout for a format and the options of its source."""
        usual = "\t" if kind.startswith("tsv") else ","
        return cls(options.delimiter or usual, options.quote, options.columns, options.escape)


def read_rows(
    stream: io.BufferedReader, parser: RowParser[Row], layout: Layout, limit: int, where: str
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from a table, and bad rows; blank lines and a byte order mark are skipped.

    All lines must end like the first one. A bad row has another number of values than there are columns (`ragged_row`),
    text after a closing quote (`bad_quotes`), a line end of another kind outside quotes (`stray_line_end`), NUL (`nul`)
    or bytes that are not UTF-8. Raises `BadFileError` for a header that cannot be used, a row of more than `limit`
    bytes, and a quote that is still open at the end, which may hide any number of rows.
    """
    escape = None if layout.escape is None else Escape(layout.escape, layout.quote, layout.delimiter)
    lines = TextLines(stream, layout.quote, escape, limit, where)
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


def _rows(lines: TextLines, layout: Layout, limit: int) -> Iterator[list[str] | RowError]:
    """Yields the values of every row that is not blank, or why it cannot be read."""
    if csv.field_size_limit() < limit:
        csv.field_size_limit(limit)  # this limit is global; `TextLines` enforces the limit of this file
    reader = csv.reader(
        lines,
        delimiter=layout.delimiter,
        quotechar=layout.quote,
        escapechar=layout.escape,
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
            yield _fault(str(fault), lines, layout)
            continue
        if row is None:
            return
        if row:
            yield row


def _fault(problem: str, lines: TextLines, layout: Layout) -> RowError:
    """Returns a fault that the parser found as a `RowError`."""
    if "new-line" in problem:
        stray, usual = ("line feed", "carriage return") if lines.by_return else ("carriage return", "line feed")
        return RowError("stray_line_end", f"a {stray} stands outside quotes; the lines of this file end in a {usual}")
    if "expected after" in problem:
        return RowError("bad_quotes", f"text stands after a closing {layout.quote}, before the next delimiter")
    return RowError("bad_quotes", problem)


def _values(columns: Sequence[str], row: list[str]) -> dict[str, object]:
    """Returns the values of a row by column; an unusable value is replaced by its `RowError`."""
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
    """Raises `BadFileError` unless column names are unique and required columns exist."""
    shown = shown_names(map(repr, columns))
    if len(set(columns)) != len(columns):
        raise BadFileError(where, f"two columns with one name; columns: {shown}")
    if faulty := [value for name in columns if isinstance(value := _checked(name, name), RowError)]:
        raise BadFileError(where, f"the header cannot be read: {faulty[0]}")
    if missing := missing_column(parser, columns):
        raise BadFileError(where, f"{missing}; columns: {shown}")
