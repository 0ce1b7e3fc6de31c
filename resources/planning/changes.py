"""What differs between a commit record and what would be computed now, in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from resources.ledger import Record
from resources.stage.declaration import Stage


def input_change(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """How two sets of inputs differ, in words; empty when they do not."""
    added = [key for key in now if key not in before]
    removed = [key for key in before if key not in now]
    changed = [key for key in now if key in before and before[key] != now[key]]
    parts = [_some(changed, "changed"), _some(added, "added"), _some(removed, "removed")]
    reordered = "" if any(parts) or list(before) == list(now) else "order of inputs changed"
    return ", ".join(part for part in parts if part) or reordered


def _some(keys: list[str], what: str) -> str:
    if not keys:
        return ""
    return f"{keys[0]} {what}" if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more {what}"


def own_change(stage: Stage, parameters: Mapping[str, Any], record: Record) -> str:
    """A change in the code version or the parameters, in words."""
    if stage.code_version != record.code_version:
        return f"code version {record.code_version} -> {stage.code_version}"
    return ", ".join(_parameter_changes(record.parameters, parameters))


def _parameter_changes(before: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """`key old -> new` for every value that differs; sections are compared key by key."""
    for name in sorted({*before, *now}):
        old, new = before.get(name, "(unset)"), now.get(name, "(unset)")
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _parameter_changes(old, new, f"{path}{name}.")
        elif old != new:
            yield f"{path}{name} {_short(old)} -> {_short(new)}"


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def damage(record: Record, sizes: Mapping[str, int]) -> str:
    """What is wrong with the files a record names, as far as a listing shows."""
    for file in record.files:
        if file.path not in sizes:
            return f"file missing: {file.path}"
        if sizes[file.path] != file.bytes:
            return f"file {file.path} has {sizes[file.path]} bytes, its record says {file.bytes}"
    return ""
