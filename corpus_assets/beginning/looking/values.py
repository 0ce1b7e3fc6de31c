"""The values of a row as they are, whatever they mean."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import msgspec

from corpus_assets.raw.rows.faults import RowError, decode_error
from corpus_assets.raw.rows.json_values import ANY, utf8

Row = dict[str, Any]
SHOWN: Final = 20_000
"""Characters of a text that are kept."""
DEEPEST: Final = 16
_KEY: Final = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.)*")\s*:\s*')
_NEXT: Final = re.compile(r"\s*,?\s*(?=\S)")
_DECODER: Final = json.JSONDecoder()


class AsItIs:
    """Gives the values of every row (a `RowParser`)."""

    required: Sequence[Sequence[str]] = ()
    places: Mapping[str, str] = {}
    textual: Sequence[str] = ()
    columns: Collection[str] | None = None
    empty_files = False

    def begin_part(self, number: int) -> None:
        """Notes nothing: rows are alike in all parts."""

    def from_line(self, line: bytes | None, place: str, *, bare_strings: bool = False) -> Row:  # noqa: ARG002
        """Returns the values of a JSON line."""
        if line is None:
            raise RowError("line_too_long", "longer than a build reads")
        try:
            value = ANY.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            raise decode_error(line, fault) from None
        if bare_strings and isinstance(value, str):
            return {"": value[:SHOWN]}
        if not isinstance(value, dict):
            raise RowError("not_an_object", f"the row is {type(value).__name__}")
        return _cut(value)

    def from_values(self, values: dict[str, object], place: str) -> Row:  # noqa: ARG002
        """Returns the values of a row of a table; one that cannot be converted makes the row bad."""
        for value in values.values():
            if isinstance(value, RowError):
                raise value
        return _cut({key: utf8(value) if key else value for key, value in values.items()})

    def from_text(self, text: str, place: str) -> Row:  # noqa: ARG002
        """Returns a text under the empty key."""
        return {"": text[:SHOWN]}

    def from_record(self, values: dict[str, object], place: str) -> Row:
        """Returns the values of a record of a web crawl."""
        return self.from_values(values, place)


def _cut(values: Row) -> Row:
    return {key: value[:SHOWN] if isinstance(value, str) else value for key, value in values.items()}


def begun_object(text: str) -> Row:
    """Returns the values of a JSON object of which only the beginning is there; the last may be a part of a value."""
    start = text.find("{")
    found = _begun(text, start, DEEPEST) if start >= 0 else None
    return found if isinstance(found, dict) else {}


def _begun(text: str, start: int, depth: int) -> Any:
    """Returns what is there of a value that ends after the text: of a text, an object or a list; None for others.

    depth: of values within it that are looked into.
    """
    kind = text[start : start + 1]
    if kind == '"':
        return text[start + 1 : start + 1 + SHOWN]
    if kind not in ("{", "[") or not depth:
        return None
    values, items = Row(), list[Any]()
    place = start + 1
    while (found := (_KEY if kind == "{" else _NEXT).match(text, place)) is not None:
        try:
            value, place = _DECODER.raw_decode(text, found.end())
            ended = False
        except (ValueError, RecursionError):
            value, ended = _begun(text, found.end(), depth - 1), True
        if not ended or value not in (None, {}, []):
            if kind == "{":
                values[str(json.loads(found[1]))] = value
            else:
                items.append(value)
        if ended:
            break
    return values if kind == "{" else items
