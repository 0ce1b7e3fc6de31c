"""Temporary changes of a configuration, for example to see what they would cost: `split.holdout=0.05`."""

import copy
from collections.abc import Sequence
from typing import Any

from corpus_assets.config.reading.strict_yaml import load_yaml
from resources.errors import ConfigError

MOST = 100


def with_changes(values: Any, changes: Sequence[str]) -> Any:
    """Returns a changed copy of plain values.

    changes: `KEY=VALUE` each, the value in YAML. A dot leads into a section, or into an entry of a list by its name or
    its number from 0: `sources.books.epochs=2`. A key that is there may hold dots: `filter.rules.a.b.c.min=2` is
    `min` of the rule `a.b.c`. `ConfigError` names what is wrong with one.
    """
    if len(changes) > MOST:
        raise ConfigError(f"--set: {len(changes)} changes; at most {MOST}")
    changed = copy.deepcopy(values) if changes else values
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or not all(key.split(".")):
            raise ConfigError(f"--set {change}: valid is KEY=VALUE, such as split.holdout=0.05")
        _change(changed, key.split("."), load_yaml(value, f"--set {key}"), change)
    return changed


def _change(held: Any, path: Sequence[str], value: Any, change: str) -> None:
    number = 0
    while number < len(path):
        start, number = number, number + _length(held, path[number:])
        part, last = ".".join(path[start:number]), number == len(path)
        if isinstance(held, list):
            place = _place(held, part, change)
            if last:
                held[place] = value
            held = held[place]
        elif isinstance(held, dict):
            held[part] = value if last else ({} if held.get(part) is None else held[part])
            held = held[part]
        else:
            raise ConfigError(f"--set {change}: {'.'.join(path[:start])} is {held!r}, and has no {part!r}")


def _length(held: Any, path: Sequence[str]) -> int:
    """Returns how many parts of a path make its first key: as many as a key that is there has, else one."""
    rest, keys = ".".join([*path, ""]), held if isinstance(held, dict) else ()
    return max((str(key).count(".") + 1 for key in keys if rest.startswith(f"{key}.")), default=1)


def _place(held: list[Any], part: str, change: str) -> int:
    names = [one.get("name") if isinstance(one, dict) else None for one in held]
    if part in names:
        return names.index(part)
    if part.isascii() and part.isdigit() and int(part) < len(held):
        return int(part)
    there = ", ".join(str(name) for name in names if name) or f"0 to {len(held) - 1}"
    raise ConfigError(f"--set {change}: no {part!r} in the list; there are {there}")
