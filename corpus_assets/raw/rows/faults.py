"""The faults of a row, and checks for them in its JSON bytes."""

import math
import re
from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

import msgspec

ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]|-?[0-9][-+.0-9eE]*+', re.DOTALL)
# Fewer digits and a shorter exponent cannot pass the largest double, about 1.8e308.
_MAYBE_HUGE: Final = re.compile(rb"[0-9](?:[eE]\+?[0-9]{3}|[0-9]{199})")
_MOST_SHOWN: Final = 40
_LONGEST_SHOWN: Final = 200


class BadRow(NamedTuple):
    """A row that gives no document: `where` is its place for a person, `reason` a stable word for counting."""

    where: str
    reason: str
    detail: str


class PassedOver(BadRow):
    """A record that by its kind holds no document, such as a request in a WARC file. It is counted, and is no fault."""


class RowError(Exception):
    """The reason why a row gives no document; the format module adds the place and yields a `BadRow`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail

    def at(self, where: str) -> BadRow:
        """Returns the bad row with its place."""
        return BadRow(where, self.reason, self.detail)


def shown_names(names: Iterable[str]) -> str:
    """Returns names of columns for messages; only the first if there are many."""
    first = list(islice(names, _MOST_SHOWN + 1))
    shown = ", ".join(name[:_LONGEST_SHOWN] for name in first[:_MOST_SHOWN])
    return f"{shown} ..." if len(first) > _MOST_SHOWN else shown


def check_json(raw: bytes, nesting: int) -> None:
    """Raises an error for JSON that common readers refuse: bytes that are not UTF-8, deep nesting, infinite numbers.

    The decoder skips values that were not requested, so their strings have not been checked before.
    """
    if not raw.isascii():
        raw.decode()
    if raw.count(b"[") + raw.count(b"{") <= nesting and not _MAYBE_HUGE.search(raw):
        return
    depth = 0
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if token in (b"[", b"{"):
            depth += 1
            if depth > nesting:
                raise RowError("too_deep", f"metadata nests deeper than {nesting} levels")
        elif token in (b"]", b"}"):
            depth -= 1
        elif not token.startswith(b'"') and math.isinf(float(token)):
            raise RowError("number_out_of_range", f"metadata holds {token[:20].decode()}..., too large for a double")


def has_lone_surrogate(line: bytes) -> bool:
    """Returns whether a JSON line has a \\u escape of half a surrogate pair."""
    return (b"\\ud" in line or b"\\uD" in line) and any(escape[1] for escape in ESCAPE.finditer(line))


def replaced(escape: re.Match[bytes]) -> bytes:
    """Returns an escape found by `ESCAPE`, with half a surrogate pair replaced by U+FFFD."""
    return rb"\ufffd" if escape[1] else escape[0]


def decode_error(line: bytes, fault: Exception) -> RowError:
    """Returns an error of the JSON decoder as the reason why a row is bad."""
    if isinstance(fault, UnicodeDecodeError):
        return RowError("invalid_utf8", f"byte 0x{fault.object[fault.start]:02x}: {fault.reason}")
    if isinstance(fault, RecursionError):
        return RowError("too_deep", "nests deeper than the JSON decoder goes")
    if isinstance(fault, msgspec.ValidationError):
        return RowError("not_an_object", str(fault))
    if has_lone_surrogate(line):
        return RowError("lone_surrogate", "a \\u escape of half a surrogate pair is not a character")
    return RowError("invalid_json", str(fault))
