"""The asset `<name>_labelled`: which documents of a shard may be examples of a classifier, by hash and row."""

from collections.abc import Mapping, Sequence
from typing import Any

from corpus_assets.classifiers.conditions import counts, metadata_of
from corpus_assets.classifiers.lowest import PLACES, Lowest, example_hash
from resources.documents.looked_for import LookedFor, numbers_of
from resources.stage.task import Task


def labelled(task: Task, name: str, classes: Sequence[str], keys: Mapping[str, Sequence[str]]) -> None:
    """Writes for each class the places of the texts with the smallest hashes.

    keys: those of the metadata that the examples of each source depend on, by their place in corpus.yaml and source.
    """
    found = {label: Lowest(task[f"classifiers.{name}.examples"]) for label in classes}
    seed, characters = task[f"classifiers.{name}.seed"], task[f"classifiers.{name}.characters"]
    conditions = _conditions(task, f"classifiers.{name}", classes)
    looked_for = LookedFor("documents", {place: held for place, held in keys.items() if conditions})
    rows = chosen = 0
    for row, document in enumerate(task.input("normalized_documents").documents() if conditions else ()):
        rows += 1
        metadata = metadata_of(document.metadata) if looked_for.wants_any else {}
        if looked_for.wants_any:
            looked_for.add([f"metadata.{key}" for key, value in metadata.items() if value is not None])
        text = document.text[:characters]
        labels = [label for label, of_class in conditions.items() if counts(of_class, metadata)]
        if labels and not text.isspace() and text:
            value = example_hash(seed, text)
            chosen += 1
            for label in labels:
                found[label].add(value, 0, row)
    for label, lowest in found.items():
        path = f"classifiers/{name}/{task.shard.source}/{task.shard.name}.{label}.npy"
        with task.array(path, PLACES) as out:
            out.append(lowest.found())
    task.count(rows_in=rows, rows_out=chosen, **numbers_of(looked_for))


def _conditions(task: Task, place: str, classes: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Returns the conditions of the source by class; a class without the source is left out."""
    found: dict[str, list[dict[str, Any]]] = {}
    for label in classes:
        for key, value in task.parameters.items():
            if key.startswith(f"{place}.{label}.") and isinstance(value, Mapping):
                found.setdefault(label, []).append({**value, "key": task.parameters.get(f"{key}.key")})
    return found
