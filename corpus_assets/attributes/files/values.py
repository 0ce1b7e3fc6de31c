"""The values of an attribute row that somebody else made, as spans under keys of our own."""

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from corpus_assets.config.selection.attributes import key_prefix
from resources.formats.attributes import Span

MOST_LABELS, LONGEST_LABEL = 1000, 100
MOST_KEYS = 100_000
_LARGEST = 1 << 63
_VALID = "valid: a list of [start, end, score], a number, true, false, or a label"


class BadValueError(Exception):
    """A value that is no attribute, with its key."""


def name_of(prefix: str, key: str) -> str:
    """Returns the name that a key of a file gets. prefix: the name of the entry, as keys have it.

    A key `<name>__...` stays as it is. `<name>__` is put before others, and before one of a single part twice, since
    Dolma names a tagger that runs alone that way.
    """
    part = key_prefix(key)
    if part.startswith(f"{prefix}__") and len(part) > len(prefix) + len("__"):
        return part
    return f"{prefix}__{part}" if "__" in part else f"{prefix}__{prefix}__{part}"


class Keys:
    """The names that the keys of one file get, and the labels that their strings are."""

    def __init__(self, entry: str) -> None:
        self._prefix = key_prefix(entry)
        self._names: dict[str, str] = {}
        self._given: dict[str, str] = {}
        self._labels: dict[str, int] = {}

    def name(self, key: str) -> str:
        """Returns the name of a key."""
        if (known := self._names.get(key)) is not None:
            return known
        if not key:
            raise BadValueError("a key is empty; valid: a name")
        return self._noted(key, name_of(self._prefix, key))

    def label(self, key: str, label: str) -> str:
        """Returns the name of a string under a key: each label is a type of its own, with score 1."""
        given = f"{key}\0{label}"
        if (known := self._names.get(given)) is not None:
            return known
        if len(label) > LONGEST_LABEL or not re.search("[A-Za-z0-9]", label):
            raise BadValueError(
                f"key {key!r} holds {label[:LONGEST_LABEL]!r}; valid strings: labels of up to {LONGEST_LABEL} "
                "characters with ASCII letters or digits (`keys` chooses which attributes are taken)"
            )
        self._labels[key] = self._labels.get(key, 0) + 1
        if self._labels[key] > MOST_LABELS:
            raise BadValueError(f"key {key!r} has more than {MOST_LABELS} labels, such as {label!r}; valid: fewer")
        return self._noted(given, f"{self.name(key)}__{key_prefix(label)}")

    def _noted(self, given: str, name: str) -> str:
        if (other := self._given.setdefault(name, given)) != given:
            both = " and ".join(repr(one.rpartition("\0")[2]) for one in (other, given))
            raise BadValueError(
                f"{both} would both be {name!r}; names of attributes have ASCII letters, digits and _ only"
            )
        if len(self._names) >= MOST_KEYS:
            raise BadValueError(f"more than {MOST_KEYS:,} different keys and labels in one file; valid: fewer")
        self._names[given] = name
        return name


def spans_of(values: Mapping[str, Any], length: int, keys: Keys) -> dict[str, Sequence[Span]]:
    """Returns the spans of a row by their names; `BadValueError` names a bad value's key. length: of the text.

    A list of spans is kept as it is, also an empty one; a number is the score of the whole text, a boolean 1 or 0, a
    string a label with score 1. Null and an empty string are no value.
    """
    found: dict[str, Sequence[Span]] = {}
    for key, value in values.items():
        if value is None or value == "":
            continue
        if isinstance(value, str):
            found[keys.label(key, value)] = [(0, length, 1.0)]
        elif isinstance(value, list):
            found[keys.name(key)] = [_span(item, length, key) for item in value]
        else:
            found[keys.name(key)] = [(0, length, _score(value, key))]
    return found


def _span(item: Any, length: int, key: str) -> Span:
    if isinstance(item, dict) and item.keys() == {"start", "end", "score"}:
        item = [item["start"], item["end"], item["score"]]
    if not isinstance(item, list | tuple) or len(item) != 3:
        raise BadValueError(f"key {key!r} holds the span {str(item)[:60]}; valid: [start, end, score]")
    start, end, score = item
    if type(start) is not int or type(end) is not int:
        start, end = _place(start, key), _place(end, key)
    if not 0 <= start <= end <= length:
        raise BadValueError(
            f"key {key!r} holds the span [{start}, {end}], and its text has {length} code points; "
            "valid: 0 <= start <= end <= the number of code points"
        )
    return start, end, _score(score, key, whole=False)


def _place(value: Any, key: str) -> int:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise BadValueError(
            f"key {key!r} holds a span that begins or ends at {str(value)[:40]!r}; valid: a whole number"
        )
    return value


def _score(value: Any, key: str, *, whole: bool = True) -> int | float:
    if type(value) is float:
        if math.isfinite(value):
            return value
        raise BadValueError(f"key {key!r} holds {value}; valid: a finite number")
    if type(value) is int and abs(value) < _LARGEST:
        return value
    if isinstance(value, bool) and whole:
        return 1.0 if value else 0.0
    if isinstance(value, Decimal) and value.is_finite():
        return float(value)
    raise BadValueError(f"key {key!r} holds {str(value)[:60]!r}{'' if whole else ' as a score'}; {_VALID}")
