"""Which documents of a source, or rows of a file, are examples of a class."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

_SPAN = 3
Condition = Mapping[str, Any]
"""`key`, and `min`, `max` or `values`, as corpus.yaml has them; without `key` everything counts."""


def counts(conditions: Iterable[Condition], row: Mapping[str, Any]) -> bool:
    """Returns whether a row meets any of some conditions. row: metadata of a document, or a row of a file."""
    return any(
        condition["key"] is None or _meets(value_at(row, condition["key"]), condition) for condition in conditions
    )


def value_at(row: Mapping[str, Any], key: str) -> Any:
    """Returns the value at a key, None if there is none. Dots lead into objects; spans are the sum of their scores."""
    value: Any = row
    for part in [key] if key in row else key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, list) and value and all(isinstance(one, list) and len(one) == _SPAN for one in value):
        scores = [one[-1] for one in value]
        return sum(scores) if all(map(_is_number, scores)) else None
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _meets(value: Any, condition: Condition) -> bool:
    if condition["values"] is not None:
        return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in condition["values"])
    if not _is_number(value):
        return False
    least, most = condition["min"], condition["max"]
    return (least is None or value >= least) and (most is None or value <= most)


def metadata_of(raw: msgspec.Raw) -> dict[str, Any]:
    """Returns the metadata of a document; empty if it has none."""
    return _METADATA.decode(raw) if bytes(raw) else {}


_METADATA = msgspec.json.Decoder(dict[str, Any])


def of_source(name: str, classes: Mapping[str, Iterable[Condition]]) -> dict[str, dict[str, Any]]:
    """Returns what the conditions of a source ask of the value at their key, by `CLASS.NUMBER` of their entry."""
    return {
        f"{label}.{number}": {key: entry[key] for key in ("source", "min", "max", "values")}
        for label, entries in classes.items()
        for number, entry in enumerate(entries)
        if entry["source"] == name
    }
