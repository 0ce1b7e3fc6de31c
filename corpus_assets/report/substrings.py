"""Repeated substrings: what was marked of each source, and the most frequent boilerplate."""

from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.report.model import Boilerplate, Substrings
from corpus_assets.report.records import Built, source_of, summed

MOST = 20
_ENDING = "_attributes"
_COUNTED = ("rows_out", "spans", "characters", "flagged", "boilerplate_spans")


def substrings(built: Built, configuration: Mapping[str, Any]) -> list[Substrings]:
    """Returns the findings of each entry of `dedupers` with `kind: substrings`."""
    return list(_each(built, configuration))


def _each(built: Built, configuration: Mapping[str, Any]) -> Iterator[Substrings]:
    for entry in configuration["dedupers"]:
        partitions = built.get(f"{entry['name']}{_ENDING}", ()) if entry.get("kind") == "substrings" else ()
        sources: dict[str, dict[str, int]] = {}
        found: list[Boilerplate] = []
        for one in partitions:
            numbers, source = one.record.statistics, source_of(one) or ""
            counted = {key: numbers[key] for key in _COUNTED if key in numbers}
            sources[source] = summed([sources.get(source, {}), counted])
            found += [Boilerplate(**row, source=source) for row in numbers.get("boilerplate", ())]
        if partitions:
            found.sort(key=lambda one: (-one.documents, -one.length))
            yield Substrings(entry["name"], entry["min_length"], entry["boilerplate"], sources, found[:MOST])
