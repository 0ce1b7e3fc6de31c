"""Reads blocks of headers, as WARC records and HTTP messages begin with, with a limit on their size."""

import re
from typing import Final, Protocol

HEADER_BYTES: Final = 1 << 16
"""Most bytes of a block of headers."""

Headers = dict[str, str]
"""Values by name in small letters; of several with the same name the first, or all of those that are lists."""

_LISTS: Final = frozenset({"content-type", "content-encoding", "transfer-encoding"})
"""Headers of which several are one, with a comma between their values (RFC 9110, 5.3; Fetch, "extract a MIME type")."""

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';]+)""", re.IGNORECASE)
_PARTS: Final = re.compile(r"""(?:[^,"]|"[^"]*"?)+""")
"""The values of a list; a comma in quotes is part of one."""
_TYPE: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+")


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
            name, value = name.strip().lower(), value.strip()
            if name not in headers:
                headers[name] = value
            elif name in _LISTS:
                headers[name] += f", {value}"
    return headers


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def media_type(value: str) -> str:
    """Returns the type of a `Content-Type` in small letters, without its parameters; of several the last one."""
    return _last_type(value)[0]


def charset_of(value: str) -> str | None:
    """Returns the `charset` that a `Content-Type` names for its type, as it is written."""
    return _last_type(value)[1]


def _last_type(value: str) -> tuple[str, str | None]:
    """Returns type and charset, as browsers do (Fetch, "extract a MIME type"): the last valid type of a list counts.

    It keeps the charset that was said before it of the same type. Without any valid type, the whole value counts.
    """
    last, charset = "", None
    for part in _PARTS.findall(value):
        name = part.partition(";")[0].strip().lower()
        if _TYPE.fullmatch(name) and name != "*/*":
            found = _CHARSET.search(part)
            charset = found[1] if found else charset if name == last else None
            last = name
    if last:
        return last, charset
    found = _CHARSET.search(value)
    return value.partition(";")[0].strip().lower(), found[1] if found else None
