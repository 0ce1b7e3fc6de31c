"""An unfinished corpus.yaml, and the keys that could not be imported into it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

LONGEST_NAME = 48


def variable_step(name: str) -> str:
    """Returns the step for the user that a variable of the environment needs."""
    return f"set the environment variable {name} wherever the corpus is built, or write its value"


class GivenStream(NamedTuple):
    """A stream of a mix."""

    key: str
    values: Mapping[str, Any]
    sources: dict[str, list[str]]
    """Patterns of its documents, by source."""
    rules: dict[str, Any]
    attributes: list[str]
    whole: bool
    """Whether files are put together."""


class GivenTokens(NamedTuple):
    """Values of a `tokens` configuration by their full key, and the folder of the new corpus.yaml."""

    values: Mapping[str, Any]
    folder: Path


@dataclass
class Filled:
    """A filter of a deduper."""

    compared: dict[str, Any]
    """The keys of the entry that say what is compared."""
    sources: dict[str, set[str]]
    """Patterns of the documents that fill it, by source."""
    entry: dict[str, Any] | None = None
    """The entry that fills it."""
    readers: list[dict[str, Any]] = field(default_factory=list)
    """Entries that only read it."""


@dataclass
class Draft:
    """Plain values of a corpus.yaml, with notes for the user and for later configurations."""

    values: dict[str, Any] = field(default_factory=dict)
    taken: dict[str, str] = field(default_factory=dict)
    """Keys of corpus.yaml that hold what was imported, by the key of the other configuration."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Reasons why keys were not imported, by the key of the other configuration."""
    to_do: list[str] = field(default_factory=list)
    """Steps for the user before the first build."""
    filters: dict[str, Filled] = field(default_factory=dict)
    """Filters of dedupers, by their files."""
    streams: list[GivenStream] = field(default_factory=list)
    """Streams of all mixes."""
    tokens: list[GivenTokens] = field(default_factory=list)
    """All configurations of `tokens`."""
    read: list[tuple[str, dict[str, Any], dict[str, list[str]]]] = field(default_factory=list)
    """Section and entry of each reader of documents, with the patterns of its documents by source."""
    experiments: dict[str, list[str]] = field(default_factory=dict)
    """Names of dedupers, by their name in Dolma; several may share one."""

    def take(self, key: str, ours: str) -> None:
        """Records which key of corpus.yaml holds what a key says; those of several files are joined."""
        known = self.taken.get(key, ours)
        self.taken[key] = known if ours in known else f"{known}, {ours}"

    def remind(self, step: str) -> None:
        """Records a step for the user once."""
        if step not in self.to_do:
            self.to_do.append(step)

    def leave(self, key: str, why: str) -> None:
        """Records why a key was not imported; the reasons of several files are joined."""
        known = self.left_out.get(key, why)
        self.left_out[key] = known if why in known else f"{known}; {why}"

    def leave_all(self, given: Mapping[str, Any], reasons: Mapping[str, str], where: str = "") -> None:
        """Records each key in `reasons` that has a value, with its reason."""
        for key, value in given.items():
            if key in reasons and value not in (None, False, {}, []):
                self.leave(where + key, reasons[key])

    def add(self, section: str, entry: dict[str, Any]) -> None:
        """Adds an entry to a list."""
        self.values.setdefault(section, []).append(entry)

    def entry(self, section: str, name: str) -> dict[str, Any] | None:
        """Returns the entry of a list that has a name."""
        return next((entry for entry in self.values.get(section, []) if entry["name"] == name), None)

    def free_name(self, section: str, name: str) -> str:
        """Returns a name that no entry of a list has: the given one, with a number if it is taken."""
        number = 1
        while self.entry(section, name if number == 1 else f"{name}-{number}"):
            number += 1
        return name if number == 1 else f"{name}-{number}"


def usable_name(name: str, otherwise: str) -> str:
    """Turns a name into one that is valid in corpus.yaml: lower case, other characters as `-`, a letter first."""
    found = re.sub("-+", "-", re.sub("[^a-z0-9._-]", "-", name.lower())).strip("-._")[:LONGEST_NAME].strip("-._")
    return found if found and found[0].isalpha() else otherwise


def key_prefix(name: str) -> str:
    """Returns a name in the form used in attribute keys."""
    return re.sub("[^A-Za-z0-9_]", "_", name)
