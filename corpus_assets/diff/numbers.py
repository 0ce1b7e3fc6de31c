"""The numbers of a corpus at one moment, whoever counted them: commit records, a report, or an entry of the history."""

from typing import Any, Literal

import msgspec

Measures = dict[str, int]
"""Numbers by what they count; one that is not there was not counted."""

FILE_BYTES = 256 << 20
"""Most bytes of a file with numbers that is read."""


class Asset(msgspec.Struct, omit_defaults=True):
    """An asset: version of its algorithm, how many partitions are built, and the digest of all contents, if known."""

    code_version: str
    partitions: int
    digest: str | None = None


class Numbers(msgspec.Struct, omit_defaults=True):
    """A corpus in numbers.

    kind: what counted them; a report knows the whole configuration, records what partitions were made with.
    configuration: values by dotted key, those of a source under `sources.<name>`.
    dropped: documents by asset, reason and source; the source is empty where it was not counted.
    """

    name: str
    kind: Literal["records", "report"]
    made: str = ""
    configuration: dict[str, Any] = {}
    assets: dict[str, Asset] = {}
    sources: dict[str, Measures] = {}
    splits: dict[str, Measures] = {}
    datasets: dict[str, Measures] = {}
    duplicates: Measures = {}
    dropped: dict[str, dict[str, Measures]] = {}


def same_content(one: Numbers, other: Numbers) -> bool:
    """Returns whether two moments, both counted from records, have the same content."""
    return one.assets == other.assets and one.configuration == other.configuration


def flattened(value: Any, key: str = "") -> dict[str, Any]:
    """Returns a value of a configuration as values by dotted key; entries of a list are keyed by their name, if all
    have one."""
    if isinstance(value, list) and value and all(isinstance(one, dict) and "name" in one for one in value):
        value = {one["name"]: {name: held for name, held in one.items() if name != "name"} for one in value}
    if not isinstance(value, dict) or not value:
        return {key: value} if key else {}
    found: dict[str, Any] = {}
    for name, held in value.items():
        found |= flattened(held, f"{key}.{name}" if key else str(name))
    return found
