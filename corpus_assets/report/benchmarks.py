"""Benchmark items in the corpus: their numbers, and the worst documents with shared pieces marked."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from corpus_assets.report.model import Benchmark, Text
from corpus_assets.report.records import Built
from corpus_assets.report.texts import by_key, marked, read, shown
from resources.formats.attributes import AttributeRow, attribute_rows
from resources.formats.documents import Document
from resources.stage.partition import Partition

REPORT, ATTRIBUTES, READ = "contamination_report", "contamination_attributes", "normalized_documents"
FOUND_MARK = "found"
_SHOWN, _WORST = 3, 10
_BEFORE = 300
"""Characters before the first match that are shown."""


def benchmarks(built: Built) -> list[Benchmark]:
    """Returns the findings for each benchmark; empty for a corpus without benchmarks."""
    found = []
    for report in built.get(REPORT, ()):
        content = report.json("report.json")["benchmarks"]
        worst = {name: of["worst_documents"][:_WORST] for name, of in content.items()}
        texts = _texts(built, {name: documents[:_SHOWN] for name, documents in worst.items()})
        for name, numbers in report.counters("benchmarks").items():
            found.append(Benchmark(name, dict(numbers), worst[name], texts[name]))
    return found


def _texts(built: Built, worst: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[Text]]:
    places = {(document["shard"], document["row"]) for documents in worst.values() for document in documents}
    texts = read(built.get(READ, ()), places)
    attributes = by_key(built.get(ATTRIBUTES, ()))
    rows = {place: _row(attributes[place[0]], place[1]) for place in sorted(places)}
    return {
        name: [_marked(texts[place], rows[place], name) for place in _places(documents)]
        for name, documents in worst.items()
    }


def _places(documents: Iterable[Mapping[str, Any]]) -> list[tuple[str, int]]:
    return [(document["shard"], document["row"]) for document in documents]


def _row(attributes: Partition, row: int) -> AttributeRow:
    return next(found for number, found in enumerate(attribute_rows(attributes.lines())) if number == row)


def _marked(document: Document, row: AttributeRow, name: str) -> Text:
    prefix = f"contamination__{name.replace('-', '_')}__share"
    spans = row.attributes.get(prefix) or row.attributes.get("contamination__any__share", [])
    found = sorted((int(span[0]), int(span[1])) for span in spans)
    start = max(0, found[0][0] - _BEFORE) if found else 0
    pieces = marked(document.text, found, start, FOUND_MARK)
    return shown(document, pieces, cut=start > 0 or sum(len(piece) for piece, _ in pieces) < len(document.text))
