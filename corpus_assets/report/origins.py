"""Where the documents of train are from, as the asset `origins` counted it."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.report.model import Origin, Place
from corpus_assets.report.records import Built

ORIGINS, FOUND = "origins", "origins.json"
MOST = 100
_KINDS = ("domains", "hosts", "suffixes")


def origins(built: Built) -> list[Origin]:
    """Returns the origins of each source, the largest of them."""
    found = [partition.json(FOUND) for partition in built[ORIGINS]]
    return [
        _origin(name, held, has_tokens=one["tokens"]) for one in found for name, held in sorted(one["sources"].items())
    ]


def _origin(name: str, held: Mapping[str, Any], *, has_tokens: bool) -> Origin:
    largest = {
        kind: [_place(one["name"], one, has_tokens=has_tokens) for one in held[kind]["largest"][:MOST]]
        for kind in _KINDS
    }
    return Origin(
        source=name,
        documents=held["documents"],
        without_url=held["without_url"]["documents"],
        different={kind: held[kind]["different"] for kind in _KINDS},
        years=[_place(year, numbers, has_tokens=has_tokens) for year, numbers in sorted(held["years"].items())],
        **largest,
    )


def _place(name: str, numbers: Mapping[str, int], *, has_tokens: bool) -> Place:
    return Place(name, numbers["documents"], numbers["text_bytes"], numbers["tokens"] if has_tokens else None)
