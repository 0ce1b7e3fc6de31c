"""The rows that `corpus show` chooses by `--id` and `--where`."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from resources.documents.names import is_named
from resources.errors import ConfigError

Wanted = Callable[[str], bool]
"""Returns whether a row, as JSON, is wanted."""


def wanted(document_id: str | None, where: Sequence[str]) -> Wanted | None:
    """Returns the function that chooses rows; None if all are wanted.

    ConfigError for a condition without `=`. document_id: an id, or the printed name of a document.
    """
    conditions = []
    for condition in where:
        key, equals, value = condition.partition("=")
        if not (key and equals):
            raise ConfigError(f"--where {condition!r}: valid is KEY=VALUE, for example metadata.language=en")
        conditions.append((key, value))
    if document_id is None and not conditions:
        return None
    return lambda line: _holds(line, document_id, conditions)


def _holds(line: str, document: str | None, conditions: Sequence[tuple[str, str]]) -> bool:
    try:
        row = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    if document is not None and not (isinstance(row, dict) and _is_named(row, document)):
        return False
    return all(_text(_inside(row, key)) == value for key, value in conditions)


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
