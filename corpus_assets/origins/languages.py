"""Histograms of scores by language, where an attribute has the languages of documents."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from resources.documents.looked_for import LookedFor, numbers_of
from resources.documents.score_histograms import ScoreHistograms, added
from resources.formats.attributes import Span
from resources.stage.task import Task

LANGUAGE_SCORES, LANGUAGES, FOUND = "language_scores", "languages", "languages.json"
PREFIX = "origins.language"
MOST = 64
"""Languages of a shard with histograms of their own: the first ones; documents of others count as `other`."""

OTHER, UNKNOWN = "other", "unknown"


class _Row(msgspec.Struct):
    attributes: dict[str, list[Span]]


_ROW = msgspec.json.Decoder(_Row)


def language_scores(task: Task, assets: Sequence[str]) -> None:
    """Writes the histograms of one shard by language. assets: all attributes."""
    prefix, found = task[PREFIX], dict[str, ScoreHistograms]()
    looked_for = LookedFor("documents", {PREFIX: [prefix]})
    rows = 0
    for lines in zip(*(task.input(asset).lines() for asset in assets), strict=True):
        spans: dict[str, list[Span]] = {}
        for line in lines:
            spans |= _ROW.decode(line).attributes
        language = language_of(spans, prefix)
        looked_for.add(spans, [] if language is None else [prefix])
        held = found.get(language or UNKNOWN)
        if held is None:
            held = found.setdefault((language or UNKNOWN) if len(found) < MOST else OTHER, ScoreHistograms())
        held.add({key: one for key, one in spans.items() if one and not key.startswith(prefix)})
        rows += 1
    numbers = {name: {"documents": one.documents, "histograms": one.histograms()} for name, one in found.items()}
    path = f"origins/languages/{task.shard.source}/{task.shard.name}.json"
    task.save_json(path, dict(sorted(numbers.items())), rows=len(numbers))
    task.count(rows_in=rows, rows_out=len(numbers), **numbers_of(looked_for))


def language_of(spans: Mapping[str, Sequence[Span]], prefix: str) -> str | None:
    """Returns the type with the highest score of all whose keys have a prefix, by the length of its spans; or None."""
    scores = {
        key.removeprefix(prefix): sum((end - start) * score for start, end, score in held)
        for key, held in spans.items()
        if key.startswith(prefix) and held
    }
    return max(sorted(scores), key=lambda name: scores[name]) if scores else None


def languages(task: Task) -> None:
    """Adds up the histograms of all shards by source and language."""
    found: dict[str, dict[str, Any]] = {}
    for partition in task.inputs(LANGUAGE_SCORES):
        source = (partition.key or "").partition("--")[0]
        for language, numbers in partition.json().items():
            held = found.setdefault(source, {}).setdefault(language, {"documents": 0, "histograms": {}})
            parts = [(one["documents"], one["histograms"]) for one in (held, numbers)]
            held |= {"documents": sum(count for count, _ in parts), "histograms": added(parts)}
    ordered = {source: dict(sorted(held.items())) for source, held in sorted(found.items())}
    task.save_json(f"origins/{FOUND}", ordered, rows=sum(map(len, ordered.values())))
    task.count(rows_out=sum(map(len, ordered.values())), sources=len(ordered))
