"""Finds the records of a WARC file (WARC/1.1, ISO 28500); each must begin where the one before it ends.

Other libraries silently continue after a record that is cut or has a wrong length. A corpus must not lose records that
way, so lengths are enforced here.
"""

import io
import re
from collections.abc import Iterator
from typing import Final

from corpus_assets.raw.rows.faults import RowError
from corpus_assets.raw.web.headers import HEADER_BYTES, HeaderError, Headers, read_headers
from resources.errors import BadFileError

_VERSION: Final = re.compile(r"WARC/[01]\.[0-9]{1,2}\s*")
_LENGTH: Final = re.compile(r"[0-9]{1,18}")
_RECORD_ENDS: Final = (b"\r\n\r\n", b"\n\n")
_PIECE: Final = 1 << 20


class Record:
    """One record. `offset`: its first byte in the decompressed file. `headers`: by name in small letters."""

    def __init__(self, stream: io.BufferedReader, offset: int, headers: Headers, length: int, where: str) -> None:
        self.offset = offset
        self.headers = headers
        self.length = length
        self.where = where
        self._stream = stream
        self._left = length

    @property
    def kind(self) -> str:
        """Returns the type of the record in small letters, such as `response`."""
        return self.headers.get("warc-type", "").lower()

    def block(self, limit: int) -> bytes:
        """Returns the content; `RowError` if it has more than `limit` bytes, `BadFileError` if the file is cut."""
        if self.length > limit:
            raise RowError("record_too_long", f"{self.length} bytes, over the limit of {limit} (`longest_row`)")
        return b"".join(self._pieces())

    def skip(self) -> int:
        """Skips the rest of the content; returns its whole length."""
        for _ in self._pieces():
            pass
        return self.length

    def _pieces(self) -> Iterator[bytes]:
        while self._left:
            piece = self._stream.read(min(self._left, _PIECE))
            if not piece:
                raise BadFileError(self.where, f"is cut: {self._left} of its {self.length} bytes are missing")
            self._left -= len(piece)
            yield piece


def read_records(stream: io.BufferedReader, where: str) -> Iterator[Record]:
    """Yields the records of a decompressed WARC file; the content of each may be read until the next is requested.

    Raises `BadFileError`, with the number of the record and its first byte, if a record has no headers or length, is
    cut, or does not end where its `Content-Length` says. Line ends after the last record may be missing.
    """
    counted = _Counted(stream)
    number = 0
    while True:
        ends, first = counted.next_line()
        if not first:
            return
        number += 1
        place = f"{where} record {number} at byte {counted.offset - len(first)}"
        if number > 1 and not ends.startswith(_RECORD_ENDS):
            raise BadFileError(place, "no two line ends are before it; is the length of the record before it wrong?")
        record = _next(counted, first, place)
        yield record
        counted.offset += record.skip()


class _Counted:
    """A stream that counts the bytes of headers and line ends that were read."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self.stream = stream
        self.offset = 0

    def readline(self, size: int = -1, /) -> bytes:
        line = self.stream.readline(size)
        self.offset += len(line)
        return line

    def next_line(self) -> tuple[bytes, bytes]:
        """Returns up to four bytes of line ends, and the line after them; empty at the end of the stream."""
        ends = b""
        while (line := self.readline(HEADER_BYTES + 1)) and not line.strip(b"\r\n"):
            ends = (ends + line)[:4]
        return ends, line


def _next(counted: _Counted, first: bytes, place: str) -> Record:
    offset = counted.offset - len(first)
    try:
        version, headers = read_headers(counted, first)
    except HeaderError as fault:
        raise BadFileError(place, f"{fault}; is the length of the record before it wrong?") from None
    if not _VERSION.fullmatch(version):
        raise BadFileError(
            place, f"begins with {version[:40]!r} where WARC/1.0 or WARC/1.1 is valid; is the length before it wrong?"
        )
    length = headers.get("content-length", "")
    if not _LENGTH.fullmatch(length):
        raise BadFileError(place, f"its Content-Length is {length[:40]!r}; valid: a number of bytes")
    return Record(counted.stream, offset, headers, int(length), place)
