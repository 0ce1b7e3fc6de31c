"""The sheet of a sample as a page that needs no other file, and charts of the similarity of what was removed."""

from collections.abc import Sequence

from markupsafe import Markup

from corpus_assets.audit.result import Result
from corpus_assets.audit.sample import BARS
from corpus_assets.audit.sheet import SHOWN, Item
from corpus_assets.html import charts
from corpus_assets.html.pages import SCRIPT, STYLE, inline, render
from resources.documents.names import shown_id

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
_ID = 200
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
        if any(source.nearest):
            title = f"{name}: kept documents that were compared, by the similarity of the nearest other kept one"
            found.append(charts.histogram(title, edges, source.nearest))
    return found


def sheet(items: Sequence[Item], result: Result, csv: str) -> str:
    """Returns the page. csv: name of the file that judgements are written into."""
    return render(
        "corpus_assets.audit",
        "sheet.html",
        style=inline(STYLE),
        script=inline(SCRIPT),
        items=[_shown(item) for item in items],
        columns=COLUMNS[:3],
        rows=[row[:3] for row in table(result)],
        drawings=drawings(result),
        build=result.build,
        csv=csv,
        most=SHOWN,
    )


def _shown(item: Item) -> dict[str, object]:
    removed, kept = item.pieces()
    return {
        "band": item.band,
        "similarity": item.similarity,
        "sides": [
            ("Removed", item.source, shown_id(item.removed_id, _ID), item.removed, removed, "del"),
            ("Kept", item.kept_source, shown_id(item.kept_id, _ID), item.kept, kept, "ins"),
        ],
        "cut": max(map(len, item.texts)) > SHOWN,
    }
