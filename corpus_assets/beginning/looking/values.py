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


def begun_object(text: str, depth: int = DEEPEST) -> Row:
    """Returns the values of a JSON object of which only the beginning is there; the last may be a part of a text.

    Or a part of an object. depth: of objects within it that are looked into.
    """
    decoder, values = json.JSONDecoder(), Row()
    place = text.find("{") + 1
    while place:
        key = _KEY.match(text, place)
        if key is None:
            break
        name = str(json.loads(key[1]))
        try:
            values[name], place = decoder.raw_decode(text, key.end())
        except (ValueError, RecursionError):
            begins = text[key.end() : key.end() + 1]
            if begins == '"':
                values[name] = text[key.end() + 1 : key.end() + 1 + SHOWN]
            elif begins == "{" and depth and (begun := begun_object(text[key.end() :], depth - 1)):
                values[name] = begun
            break
    return values
