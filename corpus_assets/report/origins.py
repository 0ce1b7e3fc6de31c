"""Where the documents of train are from, and scores by language, as the assets of `origins` counted them."""

from collections.abc import Mapping
from typing import Any

from corpus_assets.report.model import LanguageScores, Measure, Origin, Place
from corpus_assets.report.records import Built
from resources.documents.score_histograms import edges

ORIGINS, FOUND = "origins", "origins.json"
LANGUAGES, FOUND_LANGUAGES = "languages", "languages.json"
MOST, MOST_LANGUAGES, MOST_KEYS = 100, 20, 20
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


def languages(built: Built) -> list[LanguageScores]:
    """Returns the scores of the languages of each source with most documents, and of the first attributes."""
    found = []
    for partition in built[LANGUAGES]:
        for source, held in sorted(partition.json(FOUND_LANGUAGES).items()):
            order = sorted(held, key=lambda name: (-held[name]["documents"], name))
            found += [_scores(source, name, held[name]) for name in order[:MOST_LANGUAGES]]
    return found


def _scores(source: str, language: str, held: Mapping[str, Any]) -> LanguageScores:
    counted = [(key, one) for key, one in sorted(held["histograms"].items()) if one["counts"]]
    measures = [Measure(LANGUAGES, key, edges(one), one["counts"], one["none"]) for key, one in counted[:MOST_KEYS]]
    return LanguageScores(source, language, held["documents"], measures)
