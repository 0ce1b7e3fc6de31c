"""Which documents of a source, or rows of a file, are examples of a class."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

Condition = Mapping[str, Any]
"""`key`, and `min`, `max` or `values`, as corpus.yaml has them; without `key` everything counts."""


def counts(conditions: Iterable[Condition], row: Mapping[str, Any]) -> bool:
    """Returns whether a row meets any of some conditions. row: metadata of a document, or a row of a file."""
    return any(condition["key"] is None or _meets(row.get(condition["key"]), condition) for condition in conditions)


def _meets(value: Any, condition: Condition) -> bool:
    if condition["values"] is not None:
        return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in condition["values"])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    least, most = condition["min"], condition["max"]
    return (least is None or value >= least) and (most is None or value <= most)


def metadata_of(raw: msgspec.Raw) -> dict[str, Any]:
    """Returns the metadata of a document; empty if it has none."""
    return _METADATA.decode(raw) if bytes(raw) else {}


_METADATA = msgspec.json.Decoder(dict[str, Any])


def of_source(name: str, classes: Mapping[str, Iterable[Condition]]) -> dict[str, list[dict[str, Any]]]:
    """Returns the conditions of a source by class; a class without the source is left out."""
    found = {label: list(_of_source(name, entries)) for label, entries in classes.items()}
    return {label: conditions for label, conditions in found.items() if conditions}


def _of_source(name: str, entries: Iterable[Condition]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        if entry["source"] == name:
            yield {key: entry[key] for key in ("key", "min", "max", "values")}
