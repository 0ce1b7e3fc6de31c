"""A corpus.yaml in the making, and what could not be taken over into it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LONGEST_NAME = 48


@dataclass
class Filled:
    """A filter of a deduper.

    compared: what was compared to fill it. sources: of which files of which sources. readers: entries that read it.
    """

    compared: dict[str, Any]
    sources: dict[str, set[str]]
    readers: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Draft:
    """Plain values of a corpus.yaml.

    left_out: what was not taken over, by its key in the other configuration, with the reason. to_do: what is to be
    done before the first build. filters: those of a deduper, by their files.
    """

    values: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    to_do: list[str] = field(default_factory=list)
    filters: dict[str, Filled] = field(default_factory=dict)

    def leave(self, key: str, why: str) -> None:
        """Says that a key was not taken over."""
        self.left_out[key] = why

    def leave_all(self, given: Mapping[str, Any], reasons: Mapping[str, str], where: str = "") -> None:
        """Says of every key in `reasons` that is given why it was not taken over, and of unknown ones that they are."""
        for key, value in given.items():
            if key in reasons and value not in (None, False, {}, []):
                self.leave(where + key, reasons[key])

    def add(self, section: str, entry: dict[str, Any]) -> None:
        """Adds an entry to a list."""
        self.values.setdefault(section, []).append(entry)

    def entry(self, section: str, name: str) -> dict[str, Any] | None:
        """Returns the entry of a list with a name."""
        return next((entry for entry in self.values.get(section, []) if entry["name"] == name), None)


def usable_name(name: str, otherwise: str) -> str:
    """Returns a name as corpus.yaml takes it: lower case, other characters as `-`, a letter first."""
    found = re.sub("-+", "-", re.sub("[^a-z0-9._-]", "-", name.lower())).strip("-._")[:LONGEST_NAME].strip("-._")
    return found if found and found[0].isalpha() else otherwise


def key_prefix(name: str) -> str:
    """Returns a name as it stands in attribute keys."""
    return re.sub("[^A-Za-z0-9_]", "_", name)
