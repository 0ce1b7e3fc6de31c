"""The differences between a commit record and what would be computed now, in words."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import Any

from resources.ledger.ledger import ALL, Record
from resources.ledger.records import SET
from resources.stage.declaration import Stage

_CUT = "..."


def input_change(before: Mapping[str, str], now: Mapping[str, str], stand_ins: Mapping[str, str] | None = None) -> str:
    """Returns in words how two sets of inputs differ; empty if they do not.

    stand_ins: the assets that are really read, by the names that recipes have for them.
    """
    added = [key for key in now if key not in before]
    removed = [key for key in before if key not in now]
    changed = [key for key in now if key in before and before[key] != now[key]]
    named = [[_in_words(really_read(key, stand_ins or {})) for key in keys] for keys in (changed, added, removed)]
    phrases = [_some(keys, what) for keys, what in zip(named, ("changed", "added", "removed"), strict=True)]
    reordered = "" if any(phrases) or list(before) == list(now) else "order of inputs changed"
    return ", ".join(phrase for phrase in phrases if phrase) or reordered


def really_read(name: str, stand_ins: Mapping[str, str]) -> str:
    """Returns the partition that is read under the name that a recipe has for it (`Stage.stand_ins`)."""
    asset, slash, partition = name.partition("/")
    return f"{stand_ins.get(asset, asset)}{slash}{partition}"


def _in_words(name: str) -> str:
    """Returns a partition, or `something in ASSET` for all partitions of an asset, which are one input (`folded`)."""
    asset, _, partition = name.rpartition("/")
    return f"something in {asset}" if partition == ALL else name


def _some(keys: list[str], what: str) -> str:
    if not keys:
        return ""
    return f"{keys[0]} {what}" if len(keys) == 1 else f"{keys[0]} and {len(keys) - 1} more {what}"


def own_change(stage: Stage, parameters: Mapping[str, Any], record: Record) -> str:
    """Returns in words how the code version or the parameters changed; empty if they did not.

    Another shape (`Stage.shape`) is the only reason: other parameters that come and go follow from it.
    """
    if stage.code_version != record.code_version:
        return f"code version {record.code_version} -> {stage.code_version}"
    if record.parameters == parameters:
        return ""
    shapes = [
        {key: one.get(key, value) for key, value in stage.shape.items()} for one in (record.parameters, parameters)
    ]
    before, now = shapes if shapes[0] != shapes[1] else (record.parameters, parameters)
    words = ", ".join(_parameter_changes(before, now))
    return f"{words} (built with --set {record.versions[SET]})" if SET in record.versions else words


def _parameter_changes(before: Mapping[str, Any], now: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yields `key old -> new` for every value that differs, `key changed` for digests; sections key by key."""
    for name in sorted({*before, *now}):
        old, new = before.get(name, "(unset)"), now.get(name, "(unset)")
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _parameter_changes(old, new, f"{path}{name}.")
        elif old != new:
            digests = _is_digest(old) and _is_digest(new)
            yield f"{path}{name} changed" if digests else f"{path}{name} {' -> '.join(shortened(str(old), str(new)))}"


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value) is not None


def shortened(before: str, now: str, width: int = 40) -> tuple[str, str]:
    """Returns two different texts, cut to a width; a long common beginning is left out."""
    pairs = zip(before, now, strict=False) if max(len(before), len(now)) > width else ()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    start = 0 if same < width - len(_CUT) else same - width // 4
    return _cut(before, start, width), _cut(now, start, width)


def _cut(text: str, start: int, width: int) -> str:
    rest = f"{_CUT}{text[start:]}" if start else text
    return rest if len(rest) <= width else f"{rest[: width - len(_CUT)]}{_CUT}"
