"""What learned filters are worth on held-out examples, and how large language models are, by their records."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, UnsetType

from corpus_assets.report.model import Classifier, LanguageModel
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


def language_models(built: Built, configuration: Mapping[str, Any]) -> list[LanguageModel] | UnsetType:
    """Returns the numbers of each language model; UNSET for a corpus without any."""
    found = [
        LanguageModel(name, counted["words"], counted["tokens"], counted["ngrams"], counted.get("pruned_ngrams", {}))
        for name in (one["name"] for one in configuration.get("language_models", ()))
        for partition in built.get(f"{name}_language_model", ())
        for counted in [partition.record.statistics]
    ]
    return found or UNSET
