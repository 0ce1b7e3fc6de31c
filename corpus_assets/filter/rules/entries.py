"""The attributes that rules may name: entries of `attributes`, and attribute stages of the user's own."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resources.errors import ConfigError
from resources.stage.graph import did_you_mean


@dataclass(frozen=True)
class Entry:
    """An attribute with a row for every document.

    asset: that writes it. taggers: those that it runs; None if that is not known.
    """

    asset: str
    taggers: Sequence[str] | None = None


Entries = Mapping[str, Entry]
"""All attributes by the name that rules have for them."""


@dataclass(frozen=True)
class Source:
    """Where a rule finds its spans: the asset, and the attribute key in its rows."""

    asset: str
    key: str


def source_of(name: str, entries: Entries, where: str) -> Source:
    """Returns where the spans of `ENTRY.TAGGER.TYPE` are; `ConfigError`, with `where`, if there is no such entry."""
    entry, tagger, kind = name.rsplit(".", 2)
    if entry not in entries:
        known = f"attributes are: {', '.join(entries)}" if entries else "`attributes` has no entry"
        raise ConfigError(f"{where}: no attribute named {entry!r}{did_you_mean(entry, entries)}; {known}")
    taggers = entries[entry].taggers
    if taggers is not None and tagger not in taggers:
        near = did_you_mean(tagger, taggers)
        raise ConfigError(f"{where}: {entry!r} has no tagger {tagger!r}{near}; it has: {', '.join(taggers)}")
    return Source(entries[entry].asset, "__".join(map(_part, (entry, tagger, kind))))


def _part(name: str) -> str:
    """Returns a name as it stands in an attribute key (docs/formats/dolma.md)."""
    return re.sub("[^A-Za-z0-9_]", "_", name)
