"""The attributes that rules may name: entries of `attributes`, and attribute stages of the user's own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resources.errors import ConfigError
from resources.stage.graph import did_you_mean


@dataclass(frozen=True)
class Entry:
    """An attribute with a row for every document.

    asset: writes it.
    types: the types that each tagger gives, or the unit that a deduper compares, by its name in attribute keys; empty
        for a tagger with open types. None if the taggers are not known.
    key: the only key of its rows, if that is not made of the names.
    """

    asset: str
    types: Mapping[str, Sequence[str]] | None = None
    key: str | None = None


Entries = Mapping[str, Entry]
"""All attributes by the name that rules have for them."""


@dataclass(frozen=True)
class Source:
    """Where a rule finds its spans: the asset, and the attribute key in its rows.

    is_open: whether any type is possible, such as labels of a model, so that only documents can show a misspelt one.
    """

    asset: str
    key: str
    is_open: bool = False


_READ_KEY = re.compile(r"""(?:\.|\[\s*["'])([A-Za-z_][A-Za-z0-9_]*)""")
"""A key that an expression in JSONPath or jq reads: behind a dot, or alone in brackets."""

_NO_ENTRY = "`attributes` has no entry"


def source_of(name: str, entries: Entries, where: str) -> Source:
    """Returns where the spans of `ENTRY.TAGGER.TYPE` are; `ConfigError`, with `where`, if there is no such entry."""
    entry, tagger, kind = name.rsplit(".", 2)
    if entry not in entries:
        known = f"attributes are: {', '.join(entries)}" if entries else _NO_ENTRY
        raise ConfigError(f"{where}: no attribute named {entry!r}{did_you_mean(entry, entries)}; {known}")
    _require_type(entry, entries[entry], tagger, kind, where)
    is_open = not (entries[entry].types or {}).get(_part(tagger)) and entries[entry].key is None
    return Source(entries[entry].asset, entries[entry].key or "__".join(map(_part, (entry, tagger, kind))), is_open)


def labels_of(name: str, entries: Entries, where: str) -> Source:
    """Returns where the labels of `ENTRY.TAGGER` are: the beginning of the attribute keys with its types."""
    entry, tagger = name.rsplit(".", 1)
    if entry not in entries:
        known = f"attributes are: {', '.join(entries)}" if entries else _NO_ENTRY
        raise ConfigError(f"{where}: no attribute named {entry!r}{did_you_mean(entry, entries)}; {known}")
    types = entries[entry].types
    if types is not None and _part(tagger) not in types:
        near = did_you_mean(_part(tagger), types)
        raise ConfigError(f"{where}: {entry!r} has no tagger {tagger!r}{near}; it has: {', '.join(types)}")
    return Source(entries[entry].asset, "__".join((_part(entry), _part(tagger), "")), is_open=True)


def _require_type(name: str, entry: Entry, tagger: str, kind: str, where: str) -> None:
    """Raises `ConfigError`, with `where`, for a tagger that an entry does not have, or a type that it cannot give."""
    if entry.types is None:
        return
    if (types := entry.types.get(_part(tagger))) is None:
        near = did_you_mean(_part(tagger), entry.types)
        raise ConfigError(f"{where}: {name!r} has no tagger {tagger!r}{near}; it has: {', '.join(entry.types)}")
    if types and kind not in types:
        raise ConfigError(
            f"{where}: {tagger} gives no {kind!r}{did_you_mean(kind, types)}; it gives: {', '.join(types)}"
        )


def assets_named_in(
    expressions: Sequence[str], chosen: Sequence[str] | None, entries: Entries, where: str
) -> tuple[str, ...]:
    """Returns the assets whose attributes expressions read.

    chosen: names of entries; None for all entries of which an expression names a key. `ConfigError`, with the section
    `where`, for an unknown entry, or for a key that its taggers do not give.
    """
    for text in expressions:
        _require_keys(text, entries, where)
    if chosen is None:
        return tuple(dict.fromkeys(asset for text in expressions for asset in _named_in(text, entries, where)))
    for place, name in enumerate(chosen):
        if name not in entries:
            known = f"attributes are: {', '.join(entries)}" if entries else _NO_ENTRY
            near = did_you_mean(name, entries)
            raise ConfigError(f"{where}.attributes.{place}: no attribute named {name!r}{near}; {known}")
    return tuple(entries[name].asset for name in chosen)


def _named_in(expression: str, entries: Entries, where: str) -> list[str]:
    starts = {name: entry.key or f"{_part(name)}__" for name, entry in entries.items()}
    found = [entries[name].asset for name, start in starts.items() if start in expression]
    if not found and "attributes" in expression:
        known = f"keys begin with {', '.join(starts.values())}" if entries else _NO_ENTRY
        raise ConfigError(
            f"{where}: {expression!r} names no key of an attribute; {known} (or list `{where}.attributes`)"
        )
    return found


def _require_keys(expression: str, entries: Entries, where: str) -> None:
    """Raises `ConfigError` if an expression reads a key with the prefix of an entry that the entry cannot have."""
    for key in _READ_KEY.findall(expression):
        owners = [name for name, entry in entries.items() if entry.key is None and key.startswith(f"{_part(name)}__")]
        name = max(owners, key=len, default=None)
        types = entries[name].types if name is not None else None
        if name is None or types is None:
            continue
        rest = key.removeprefix(f"{_part(name)}__")
        tagger = max((tagger for tagger in types if rest.startswith(f"{tagger}__")), key=len, default=None)
        named, kind = (tagger, rest.removeprefix(f"{tagger}__")) if tagger else (rest.partition("__")[0], "")
        _require_type(name, entries[name], named, kind, f"{where}: {expression!r}")


def _part(name: str) -> str:
    """Returns a name in the form that attribute keys use (docs/formats/dolma.md)."""
    return re.sub("[^A-Za-z0-9_]", "_", name)
