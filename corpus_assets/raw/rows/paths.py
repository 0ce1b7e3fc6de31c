"""Keys with dots, which lead into objects, in values that are typed; which parts of a row are kept; joined texts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from corpus_assets.raw.rows.faults import RowError, shown_names
from corpus_assets.raw.rows.json_values import LIST, OBJECT, Fields, encoded, kind_of, splits, utf8

_ABSENT: Final = object()


def with_dots(keys: Collection[str | None]) -> tuple[str, ...]:
    """Returns the keys that may lead into objects."""
    return tuple(dict.fromkeys(key for key in keys if key is not None and "." in key))


def lift_values(values: dict[str, Any], keys: Sequence[str]) -> None:
    """Does what `json_values.lift` does, for values of typed columns."""
    for key in keys:
        if key not in values and (found := _taken(values, key)) is not _ABSENT:
            values[key] = found


def _taken(values: dict[str, Any], key: str) -> Any:
    for head, rest in splits(key):
        below = values.get(head)
        if isinstance(below, dict):
            left: Any = dict(below)
            found = _taken_of(left, rest)
        elif isinstance(below, list) and below and all(isinstance(item, dict) for item in below):
            left = [dict(item) for item in below]
            found = _all_found([_taken_of(item, rest) for item in left])
        else:
            continue
        if found is _ABSENT:
            continue
        if left and (isinstance(left, dict) or any(left)):
            values[head] = left
        else:
            del values[head]
        return found
    return _ABSENT


def _taken_of(values: dict[str, Any], key: str) -> Any:
    return values.pop(key) if key in values else _taken(values, key)


def _all_found(found: Sequence[Any]) -> Any:
    there = [value for value in found if value is not _ABSENT]
    given = [value for value in there if value is not None]
    if not given:
        return None if there else _ABSENT
    return [item for value in given for item in (value if isinstance(value, list) else [value])]


def kept(fields: Fields, keys: Sequence[str]) -> Fields:
    """Returns the values under the keys, each where it was; a key with dots that is not there leads into objects."""
    found = {key: fields[key] for key in keys if key in fields}
    below: dict[str, list[str]] = {}
    for key in keys:
        for head, rest in splits(key) if key not in fields else ():
            if head in fields and head not in found:
                below.setdefault(head, []).append(rest)
    for head, rests in below.items():
        if (piece := _kept_below(fields[head], rests)) is not None:
            found[head] = piece
    return {name: found[name] for name in fields if name in found}


def _kept_below(raw: msgspec.Raw, keys: Sequence[str]) -> msgspec.Raw | None:
    kind = kind_of(raw)
    if kind == "object":
        fields = kept(OBJECT.decode(raw), keys)
        return encoded(fields) if fields else None
    items = LIST.decode(raw) if kind == "list" else []
    if {kind_of(item) for item in items} != {"object"}:
        return None
    pieces = [kept(OBJECT.decode(item), keys) for item in items]
    return encoded(pieces) if any(pieces) else None


def joined_text(values: Mapping[str, object], keys: Sequence[str], separator: str, others: Iterable[str]) -> str:
    """Returns the texts under the keys, joined; each is a string or a list of strings, and empty ones are left out.

    Raises `RowError` if none of the keys has a value, and for other values. others: keys that the row has besides.
    """
    parts: list[str] = []
    given = {key: utf8(value) for key in keys if (value := values.get(key)) is not None}
    for key, value in given.items():
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            parts += value
        else:
            what = "a list of other things than strings" if isinstance(value, list) else type(value).__name__
            raise RowError("text_not_a_string", f"key {key!r} holds {what}; valid: string, list of strings")
    if not given:
        wanted = " or ".join(map(repr, keys))
        raise RowError("no_text", f"no key {wanted}; the row has {shown_names(map(repr, others)) or 'no keys'}")
    return separator.join(part for part in parts if part)
