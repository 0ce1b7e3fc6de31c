"""Judgements of removed documents as a table, and how similar removed and kept documents are as charts."""

from markupsafe import Markup

from corpus_assets.html import charts
from corpus_assets.report.audit.result import BARS, Result

COLUMNS = [
    ("source", "text"),
    ("removed", "count"),
    ("same text", "count"),
    ("judged", "count"),
    ("wrong", "count"),
    ("unsure", "count"),
    ("wrong, share", "share"),
    ("from", "share"),
    ("to", "share"),
]
_CHARTS = 12


def table(result: Result) -> list[list[str | int | float | None]]:
    """Returns a row for each source with removed documents, as `COLUMNS` have it."""
    rows: list[list[str | int | float | None]] = []
    for name, source in result.sources.items():
        if source.removed:
            share = source.share() or (None, None, None)
            numbers = (source.removed, source.equal, source.judged, source.wrong, source.unsure)
            rows.append([name, *numbers, *share])
    return rows


def drawings(result: Result) -> list[Markup]:
    """Returns the histograms of the sources that lost most."""
    edges = [place / BARS for place in range(BARS + 1)]
    most = sorted(result.sources.items(), key=lambda one: -one[1].removed)[:_CHARTS]
    found = []
    for name, source in most:
        if any(source.bars):
            title = f"{name}: removed documents with another text, by their similarity to the one kept"
            found.append(charts.histogram(title, edges, source.bars))
        if any(source.held):
            title = f"{name}: documents that stand in the one kept, by the share of their shingles that it has"
            found.append(charts.histogram(title, edges, source.held))
        if any(source.nearest):
            title = f"{name}: kept documents that were compared, by the similarity of the nearest other kept one"
            found.append(charts.histogram(title, edges, source.nearest))
    return found
