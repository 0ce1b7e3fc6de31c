"""Reads rows from a stream of JSON lines, with bounded memory per line."""

import io
from collections.abc import Iterator
from functools import partial
from typing import TypeVar

from corpus_assets.raw.faults import BadRow, RowError
from corpus_assets.raw.formats import UTF8_BOM, check_utf8_start
from corpus_assets.raw.rules import RowParser
from resources.errors import BadFileError

Row = TypeVar("Row")


def bounded_lines(stream: io.BufferedReader, limit: int) -> Iterator[bytes | None]:
    r"""Yields lines with their `\n` (the only byte that ends one); None for a line of more than `limit` bytes.

    Such a line is skipped in pieces of at most `limit` bytes.
    """
    read = partial(stream.readline, limit + 1)
    for line in iter(read, b""):
        if len(line) <= limit or line.endswith(b"\n"):
            yield line
        else:
            del line  # the next piece may be as long
            while (rest := read()) and not rest.endswith(b"\n"):
                pass
            yield None


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
    file and for UTF-16.
    """
    nothing_yet = True
    for number, raw_line in enumerate(bounded_lines(stream, limit), 1):
        line = _without_mark(raw_line, where) if number == 1 and raw_line else raw_line
        if line is not None and (not line or line.isspace()):
            continue
        if nothing_yet and bare_strings and line is not None and line.strip() in (b"[", b"{"):
            raise BadFileError(where, "one JSON value over several lines; valid is one JSON value per line")
        nothing_yet = False
        try:
            yield parser.from_line(line, place, bare_strings=bare_strings)
        except RowError as error:
            yield error.at(f"{where} line {number}")


def _without_mark(first_line: bytes, where: str) -> bytes:
    check_utf8_start(where, first_line)
    return first_line.removeprefix(UTF8_BOM)
