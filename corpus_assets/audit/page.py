"""The sheet of a sample as a page that needs no other file."""

from collections.abc import Sequence

from corpus_assets.audit.sheet import SHOWN, Item
from corpus_assets.html.pages import SCRIPT, STYLE, inline, render
from corpus_assets.report.audit.result import Result
from corpus_assets.report.audit.shown import COLUMNS, drawings, table
from resources.documents.names import shown_id

_ID = 200


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
        "held": item.held,
        "sides": [
            ("Removed", item.source, shown_id(item.removed_id, _ID), item.removed, removed, "del"),
            ("Kept", item.kept_source, shown_id(item.kept_id, _ID), item.kept, kept, "ins"),
        ],
        "cut": max(map(len, item.texts)) > SHOWN,
    }
