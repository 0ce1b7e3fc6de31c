r"""The lines of CSV and TSV files: their line ends and escape characters."""

import io
import re
from collections.abc import Iterator
from typing import Any, Final

from typing_extensions import override

from corpus_assets.raw.formats.names import UTF8_BOM, check_utf8_start
from resources.errors import BadFileError

HEAD_BYTES: Final = 1 << 20
"""Bytes in which the end of the first line is searched."""

_EXCHANGED: Final = bytes.maketrans(b"\r\n", b"\n\r")


class TextLines:
    r"""The lines of a table as text, each with its end; counts them, and the bytes of the present row.

    Lines end in `\n`, or in `\r` if the first line does. A byte that is not UTF-8 becomes a lone surrogate, so that the
    end of the row is still found. Raises `BadFileError` for a row of more than `limit` bytes.
    """

    def __init__(
        self, stream: io.BufferedReader, quote: str | None, escape: "Escape | None", limit: int, where: str
    ) -> None:
        head = stream.read(HEAD_BYTES)
        self.by_return = _ends_in_return(head, quote, escape)
        self._stream = io.BufferedReader(_From(head, stream, by_return=self.by_return), HEAD_BYTES)
        self._escape = escape
        self._limit = limit
        self._where = where
        self._row_bytes = 0
        self.first = 1  # the first line of the present row
        self.number = 0

    def begin_row(self) -> None:
        """Notes that the next line begins a row."""
        self._row_bytes = 0
        self.first = self.number + 1
        if self._escape is not None:
            self._escape.begin_row()

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
        if self.by_return:
            line = line.translate(_EXCHANGED)
        if self.number == 1:
            check_utf8_start(self._where, line)
            line = line.removeprefix(UTF8_BOM)
        text = line.decode("utf-8", "surrogateescape")
        return text if self._escape is None else self._escape.settled(text)

    def place(self) -> str:
        """Returns where the present row is, for messages."""
        last = f" to {self.number}" if self.number > self.first else ""
        return f"{self._where} line {self.first}{last}"


class Escape:
    r"""Doubles an escape character before a character that needs no escape, so that it stays part of the value.

    Inside quotes a quote needs an escape, outside them also a delimiter and a line end, and everywhere the escape
    character itself. So `\"` is a quote, and the backslash of `C:\new` stays. Databases write files in this way.
    """

    def __init__(self, character: str, quote: str | None, delimiter: str) -> None:
        self.character = character
        self._quote = quote
        self._inside = frozenset({character, *([quote] if quote else [])})
        self._outside = self._inside | {delimiter, "\r", "\n", "\r\n"}
        own = re.escape(character)
        self._marks = re.compile(rf"{own}(?:\r\n|.)?" + (f"|{re.escape(quote)}" if quote else ""), re.DOTALL)
        self._in_quotes = False

    def begin_row(self) -> None:
        """Notes that the next line begins a row, outside quotes."""
        self._in_quotes = False

    def settled(self, line: str) -> str:
        """Returns a line of the present row in which every escape character counts."""
        return self._marks.sub(self._replaced, line)

    def _replaced(self, mark: re.Match[str]) -> str:
        text = mark[0]
        if text == self._quote:
            self._in_quotes = not self._in_quotes
            return text
        following = text[1:]
        if following not in (self._inside if self._in_quotes else self._outside):
            return self.character + text
        return "".join(self.character + one for one in following)


def _ends_in_return(head: bytes, quote: str | None, escape: Escape | None) -> bool:
    r"""Returns whether the first line end outside quotes is a `\r` without `\n`."""
    mark = re.escape(quote.encode()) if quote else rb"(?!)"
    skipped = re.escape(escape.character.encode()) + b"." if escape else rb"(?!)"
    plain = rb"%s|%s(?:%s|(?!%s).)*+(?:%s|\Z)|(?!%s)[^\r\n]" % (skipped, mark, skipped, mark, mark, mark)
    first = re.match(rb"(?:%s)*+(?P<end>\r*\n|\r+)" % plain, head, re.DOTALL)
    return first is not None and not first["end"].endswith(b"\n")


class _From(io.RawIOBase):
    r"""The part of a stream that was already read, then its rest; with `\r` and `\n` exchanged if lines end in `\r`."""

    def __init__(self, head: bytes, rest: io.BufferedReader, *, by_return: bool) -> None:
        self._head = memoryview(head)
        self._rest = rest
        self._by_return = by_return

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        piece: bytes | memoryview = self._head[: len(buffer)] or self._rest.read1(len(buffer))
        self._head = self._head[len(piece) :]
        buffer[: len(piece)] = bytes(piece).translate(_EXCHANGED) if self._by_return else piece
        return len(piece)
