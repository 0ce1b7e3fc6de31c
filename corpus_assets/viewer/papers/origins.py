"""Domains, hosts, suffixes and years of the documents of train, source by source."""

from collections.abc import Iterator, Mapping
from typing import Any

from corpus_assets.origins.assets import NAME
from corpus_assets.origins.languages import FOUND as FOUND_LANGUAGES
from corpus_assets.origins.languages import LANGUAGES
from corpus_assets.origins.sums import FOUND
from corpus_assets.viewer.site import Asked, page, short
from resources.errors import NotBuiltError

MOST = 200
_ORDERS = {"largest": "most text or tokens first", "most_documents": "most documents first"}


def origins(asked: Asked) -> str:
    """Shows the counts of one source after another."""
    view = asked.view
    if NAME not in view.corpus.graph.stages:
        return page(asked, "origins.html", "Domains and dates", there=False, sources=[], languages=[])
    made = view.partition(NAME, None)
    if made is None:
        raise NotBuiltError(NAME, None, f"{NAME} is not built")
    found, scored = made.json(FOUND), view.partition(LANGUAGES, None)
    by_language = scored.json(FOUND_LANGUAGES) if scored else {}
    sources = [_source(name, held, has_tokens=found["tokens"]) for name, held in sorted(found["sources"].items())]
    rows = [
        [short(source, 100), short(language, 100), numbers["documents"]]
        for source, held in sorted(by_language.items())
        for language, numbers in sorted(held.items(), key=lambda item: (-item[1]["documents"], item[0]))
    ]
    return page(asked, "origins.html", "Domains and dates", there=True, sources=sources, languages=rows[:MOST])


def _source(name: str, held: Mapping[str, Any], *, has_tokens: bool) -> dict[str, Any]:
    return {
        "name": name,
        "documents": held["documents"],
        "without_url": held["without_url"]["documents"],
        "tables": list(_tables(name, held, has_tokens=has_tokens)),
    }


def _tables(name: str, held: Mapping[str, Any], *, has_tokens: bool) -> Iterator[tuple[str, str, list[list[Any]]]]:
    """Yields title, first column and rows of each table."""
    for kind, what in (("domains", "domain"), ("hosts", "host"), ("suffixes", "suffix")):
        for order, words in _ORDERS.items():
            rows = [_row(one["name"], one, has_tokens=has_tokens) for one in held[kind][order][:MOST]]
            yield f"{held[kind]['different']:,} {kind} of {name}, {words}", what, rows
    years = [_row(year or "not known", numbers, has_tokens=has_tokens) for year, numbers in held["years"].items()]
    yield f"Years in which documents of {name} were written", "year", years


def _row(name: str, numbers: Mapping[str, int], *, has_tokens: bool) -> list[Any]:
    tokens = numbers["tokens"] if has_tokens else None
    return [short(name, 100), numbers["documents"], numbers["text_bytes"], tokens]
