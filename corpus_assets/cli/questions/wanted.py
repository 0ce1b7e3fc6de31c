"""The rows that `corpus show` chooses by `--id` and `--where`."""

from collections.abc import Sequence
from typing import Any

import msgspec

from resources.documents.names import is_named
from resources.errors import ConfigError


class Wanted:
    """Says whether a row, as JSON, is wanted.

    document: an id, or the printed name of a document; None for all. conditions: keys and their values as text.
    """

    def __init__(self, document: str | None, conditions: Sequence[tuple[str, str]]) -> None:
        self._document = document
        self._conditions = conditions
        self._met: set[str] = set()

    def __call__(self, line: str) -> bool:
        """Returns whether a row is wanted."""
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        found = {key: _text(_inside(row, key)) for key, _ in self._conditions}
        self._met.update(key for key, value in found.items() if value is not None)
        if self._document is not None and not (isinstance(row, dict) and _is_named(row, self._document)):
            return False
        return all(found[key] == value for key, value in self._conditions)

    def words(self) -> str:
        """Returns in words what rows are wanted, and which keys none of those looked at has."""
        asked = [] if self._document is None else [f"--id {self._document}"]
        asked += [f"--where {key}={value}" for key, value in self._conditions]
        unknown = [repr(key) for key, _ in self._conditions if key not in self._met]
        keys = f"; no row has the key {' or '.join(unknown)}" if unknown else ""
        return " and ".join(asked) + keys


def wanted(document_id: str | None, where: Sequence[str]) -> Wanted | None:
    """Returns what chooses rows; None if all are wanted.

    ConfigError for a condition without `=`. document_id: an id, or the printed name of a document.
    """
    conditions = []
    for condition in where:
        key, equals, value = condition.partition("=")
        if not (key and equals):
            raise ConfigError(f"--where {condition!r}: valid is KEY=VALUE, for example metadata.language=en")
        conditions.append((key, value))
    return None if document_id is None and not conditions else Wanted(document_id, conditions)


def _is_named(row: dict[str, Any], name: str) -> bool:
    identifier, source = _text(row.get("id", _ABSENT)), row.get("source")
    return identifier is not None and is_named(name, source if isinstance(source, str) else None, identifier)


_ABSENT = object()


def _inside(row: Any, key: str) -> Any:
    """Returns the value under a key, or under keys joined by dots."""
    if not isinstance(row, dict):
        return _ABSENT
    if key in row:
        return row[key]
    first, dot, rest = key.partition(".")
    return _inside(row.get(first), rest) if dot else _ABSENT


def _text(value: Any) -> str | None:
    """Returns a value as a person writes it: text as it is, anything else as JSON."""
    if value is _ABSENT:
        return None
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
