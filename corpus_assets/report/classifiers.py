"""What learned filters are worth on held-out examples, by the records of their assets."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from corpus_assets.report.model import Classifier
from corpus_assets.report.records import Built


def classifiers(built: Built, configuration: Mapping[str, Any]) -> list[Classifier] | UnsetType:
    """Returns the figures of each classifier; UNSET for a corpus without any, whose report stays as it was."""
    names = [one["name"] for one in configuration.get("classifiers", ())]
    found = [
        Classifier(name, counted["kind"], counted["examples"], counted["figures"])
        for name in names
        for partition in built.get(f"{name}_classifier", ())
        for counted in [partition.counters("figures")]
    ]
    return found or UNSET
