"""A corpus.yaml in the making, and what could not be taken over into it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

LONGEST_NAME = 48


class GivenStream(NamedTuple):
    """A stream of a mix: its key, its values, the patterns of its documents by source, its rules, and its attributes.

    whole: whether files are put together.
    """

    key: str
    values: Mapping[str, Any]
    sources: dict[str, list[str]]
    rules: dict[str, Any]
    attributes: list[str]
    whole: bool


@dataclass
class Filled:
    """A filter of a deduper.

    compared: what was compared to fill it. sources: of which files of which sources. entry: that fills it. readers:
    entries that read it.
    """

    compared: dict[str, Any]
    sources: dict[str, set[str]]
    entry: dict[str, Any] | None = None
    readers: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Draft:
    """Plain values of a corpus.yaml.

    left_out: what was not taken over, by its key in the other configuration, with the reason.
    to_do: what is to be done before the first build.
    filters: those of a deduper, by their files.
    streams: those of all mixes.
    read: which documents entries look at: their section, the entry, and the patterns by source.
    experiments: names of dedupers by the one that they have in Dolma, which several may share.
    """

    values: dict[str, Any] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    to_do: list[str] = field(default_factory=list)
    filters: dict[str, Filled] = field(default_factory=dict)
    streams: list[GivenStream] = field(default_factory=list)
    read: list[tuple[str, dict[str, Any], dict[str, list[str]]]] = field(default_factory=list)
    experiments: dict[str, list[str]] = field(default_factory=dict)

    def leave(self, key: str, why: str) -> None:
        """Says that a key was not taken over: of several files, for each of their reasons."""
        known = self.left_out.get(key, why)
        self.left_out[key] = known if why in known else f"{known}; {why}"

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

    def free_name(self, section: str, name: str) -> str:
        """Returns a name that no entry of a list has: the one that is given, or with a number."""
        number = 1
        while self.entry(section, name if number == 1 else f"{name}-{number}"):
            number += 1
        return name if number == 1 else f"{name}-{number}"


def usable_name(name: str, otherwise: str) -> str:
    """Returns a name as corpus.yaml takes it: lower case, other characters as `-`, a letter first."""
    found = re.sub("-+", "-", re.sub("[^a-z0-9._-]", "-", name.lower())).strip("-._")[:LONGEST_NAME].strip("-._")
    return found if found and found[0].isalpha() else otherwise


def key_prefix(name: str) -> str:
    """Returns a name as it stands in attribute keys."""
    return re.sub("[^A-Za-z0-9_]", "_", name)
