"""What can be wrong with a row, and finding it in the JSON bytes."""

import math
import re
from typing import Final, NamedTuple

import msgspec

ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]|-?[0-9][-+.0-9eE]*+', re.DOTALL)
# Fewer digits and a shorter exponent cannot pass the largest double, about 1.8e308.
_MAYBE_HUGE: Final = re.compile(rb"[0-9](?:[eE]\+?[0-9]{3}|[0-9]{199})")


class BadRow(NamedTuple):
    """A row that gives no document: `where` for a person, `reason` a stable word to count by."""

    where: str
    reason: str
    detail: str


class RowError(Exception):
    """Why a row gives no document; the format module adds the place and yields a `BadRow`."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail

    def at(self, where: str) -> BadRow:
        """The bad row with its place."""
        return BadRow(where, self.reason, self.detail)


def check_json(raw: bytes, nesting: int) -> None:
    """Refuse JSON that common readers cannot take: bytes that are no UTF-8, deep nesting, infinite numbers.

    The decoder skips over values that nobody asked for, so their strings have not been looked at yet.
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
            raise RowError("number_out_of_range", f"metadata holds {token[:20].decode()}..., beyond a double")


def has_lone_surrogate(line: bytes) -> bool:
    """Whether a JSON line has a \\u escape of half a surrogate pair."""
    return (b"\\ud" in line or b"\\uD" in line) and any(escape[1] for escape in ESCAPE.finditer(line))


def replaced(escape: re.Match[bytes]) -> bytes:
    """An escape found by `ESCAPE`, with half a surrogate pair as U+FFFD."""
    return rb"\ufffd" if escape[1] else escape[0]


def decode_error(line: bytes, fault: Exception) -> RowError:
    """The reason word for what the JSON decoder met."""
    if isinstance(fault, UnicodeDecodeError):
        return RowError("invalid_utf8", f"byte 0x{fault.object[fault.start]:02x}: {fault.reason}")
    if isinstance(fault, RecursionError):
        return RowError("too_deep", "nests deeper than the JSON decoder goes")
    if isinstance(fault, msgspec.ValidationError):
        return RowError("not_an_object", str(fault))
    if has_lone_surrogate(line):
        return RowError("lone_surrogate", "a \\u escape of half a surrogate pair is no character")
    return RowError("invalid_json", str(fault))
