"""Reads rows from a stream of JSON lines, with bounded memory per line."""

import io
import re
from collections.abc import Iterator
from typing import TypeVar

from corpus_assets.raw.formats.names import UTF8_BOM, check_utf8_start
from corpus_assets.raw.rows.faults import BadRow, RowError
from corpus_assets.raw.rows.rules import RowParser
from resources.errors import BadFileError
from resources.formats.jsonl.long_lines import PIECE_BYTES, read_line

Row = TypeVar("Row")

_ARRAY_OF_OBJECTS = re.compile(rb"(?:%s)?\s*\[\s*\{" % UTF8_BOM)


def bounded_lines(stream: io.BufferedReader, limit: int) -> Iterator[bytes | None]:
    r"""Yields lines with their `\n` (no other byte ends a line); None for a line of more than `limit` bytes.

    Such a line is skipped in pieces of at most `limit` bytes.
    """
    while (line := next_line(stream, limit)) != b"":
        yield line


def next_line(stream: io.BufferedReader, limit: int) -> bytes | None:
    """Returns the next line of `bounded_lines`; nothing at the end of the stream."""
    line = read_line(stream, limit + 1)
    if len(line) <= limit or line.endswith(b"\n"):
        return line
    while line and not line.endswith(b"\n"):
        line = stream.readline(min(limit + 1, PIECE_BYTES))
    return None


def read_rows(
    stream: io.BufferedReader,
    parser: RowParser[Row],
    limit: int,
    where: str,
    place: str,
    *,
    bare_strings: bool = False,
) -> Iterator[Row | BadRow]:
    """Yields the rows that a parser makes from JSON lines, and bad rows; skips blank lines and a byte order mark.

    `where` names the stream in messages, `place` begins derived ids. `bare_strings` allows one JSON string
    per line, and refuses a file that is one JSON value over several lines. Raises `BadFileError` for such a
    file, for one that begins with an array of objects, and for UTF-16.
    """
    nothing_yet = True
    start = stream.peek()
    number = 0
    while (line := next_line(stream, limit)) != b"":
        number += 1
        if number == 1 and line:
            line = _without_mark(line, where)
        if line is not None and (not line or line.isspace()):
            continue
        if nothing_yet:
            _check_first(where, start if line is None else line, bare_strings)
        nothing_yet = False
        try:
            row: Row | BadRow = parser.from_line(line, place, bare_strings=bare_strings)
        except RowError as error:
            row = error.at(f"{where} line {number}")
        del line  # Of a long row only the document is held while it is worked on.
        yield row
        del row


def _check_first(where: str, first: bytes, bare_strings: bool) -> None:
    """Raises `BadFileError` if all rows of a file are one JSON value, which would count as one bad row.

    first: the first line that is not blank, or how the file starts if that line is too long.
    """
    if _ARRAY_OF_OBJECTS.match(first):
        raise BadFileError(where, "one JSON array of objects; valid is one object per line")
    if bare_strings and first.strip() in (b"[", b"{"):
        raise BadFileError(where, "one JSON value over several lines; valid is one JSON value per line")


def _without_mark(first_line: bytes, where: str) -> bytes:
    check_utf8_start(where, first_line)
    return first_line.removeprefix(UTF8_BOM)
