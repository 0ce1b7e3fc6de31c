"""Reads blocks of headers, as WARC records and HTTP messages begin with, with a limit on their size."""

import re
from typing import Final, Protocol

HEADER_BYTES: Final = 1 << 16
"""Most bytes of a block of headers."""

Headers = dict[str, str]
"""Values by name in small letters; the first of several with the same name."""

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';]+)""", re.IGNORECASE)


class HeaderError(ValueError):
    """A block of headers that cannot be parsed."""


class Lines(Protocol):
    """A stream of bytes from which lines are read."""

    def readline(self, size: int = -1, /) -> bytes:
        """Returns the next line with its end, or at most `size` bytes of it."""


def read_headers(lines: Lines, first: bytes = b"") -> tuple[str, Headers]:
    """Returns the first line of a block of headers, and the headers, and reads the blank line after them.

    first: the first line, if it was read already. A line that begins with white space continues the one before it.
    Raises `HeaderError` if the block is cut, or has more than `HEADER_BYTES`.
    """
    found: list[str] = []
    room = HEADER_BYTES
    while True:
        line, first = first or lines.readline(room + 1), b""
        room -= len(line)
        if room < 0:
            raise HeaderError(f"headers of more than {HEADER_BYTES} bytes")
        if not line.endswith(b"\n"):
            raise HeaderError("headers are cut")
        text = _decoded(line).rstrip("\r\n")
        if not text:
            break
        if text[0] in " \t" and found:
            found[-1] += " " + text.strip()
        else:
            found.append(text)
    return (found[0] if found else ""), _headers(found[1:])


def _headers(lines: list[str]) -> Headers:
    headers: Headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.strip().lower(), value.strip())
    return headers


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def media_type(value: str) -> str:
    """Returns the type of a `Content-Type` in small letters, without its parameters."""
    return value.partition(";")[0].strip().lower()


def charset_of(value: str) -> str | None:
    """Returns the `charset` that a `Content-Type` names, as it is written."""
    found = _CHARSET.search(value)
    return found[1] if found else None
