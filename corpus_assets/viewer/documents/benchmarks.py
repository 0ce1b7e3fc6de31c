"""Benchmarks item by item: which of them are in documents, and in which documents each is."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets import dataset_names as names
from corpus_assets.filter.assets import READ
from corpus_assets.tracing.tables import id_at
from corpus_assets.viewer.browse import pages
from corpus_assets.viewer.lines import beginning, decoded
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import missing
from corpus_assets.viewer.reading import TooFarError, lines_at, lines_file
from corpus_assets.viewer.site import Asked, link, page, seen, short
from resources.documents.names import shown_id
from resources.errors import NotBuiltError
from resources.ledger.records import ALL
from resources.stage.graph import did_you_mean

PER_PAGE = 20
MOST_DOCUMENTS = 100
TEXT = 20_000
_ATTRIBUTE, _REPORT = "contamination_attributes", "contamination_report"
_TOUCHED = ".touched.npy"


def benchmarks(asked: Asked) -> str:
    """Shows all benchmarks: how much of each is in documents."""
    view = asked.view
    made = view.partition(_REPORT, None) if _names(view) else None
    if made is None and _names(view):
        raise NotBuiltError(_REPORT, None, f"{_REPORT} is not built")
    found = made.json()["benchmarks"] if made else {}
    rows = [(name, link("benchmarks", name), found[name]) for name in _names(view) if name in found]
    return page(asked, "benchmarks.html", "Benchmarks", rows=rows)


def items(asked: Asked) -> str:
    """Shows the items of a benchmark that documents hold pieces of, or with `item` one of them with its documents."""
    view, name = asked.view, asked.path["benchmark"]
    if name not in _names(view):
        raise missing(f"There is no benchmark {short(name, 100)!r}{did_you_mean(name[:100], _names(view))}.")
    if not view.present(_ATTRIBUTE):
        raise NotBuiltError(_ATTRIBUTE, ALL, f"{_ATTRIBUTE} is not built")
    counts, shares = view.looks.get(f"items of {name}", lambda: _touched(view, name))
    if asked.query.text("item"):
        return _item(asked, name, asked.query.number("item", high=max(0, len(counts) - 1)))
    start = asked.query.number("from")
    order = np.lexsort((np.arange(len(counts)), -counts, -shares))[: np.count_nonzero(counts)]
    return page(
        asked,
        "items.html",
        f"Items of {name}",
        name=name,
        all=len(counts),
        rows=[
            {
                "number": number,
                "href": link("benchmarks", name, item=number),
                "documents": int(counts[number]),
                "share": float(shares[number]),
                "text": short(_text(view, name, number), 200),
            }
            for number in order[start : start + PER_PAGE].tolist()
        ],
        pages=pages(start, PER_PAGE, len(order), lambda at: link("benchmarks", name, **{"from": at or None})),
    )


def _item(asked: Asked, name: str, number: int) -> str:
    view = asked.view
    found = list(_documents(view, name, number))
    return page(
        asked,
        "items.html",
        f"Item {number:,} of {name}",
        name=name,
        number=number,
        text=seen(_text(view, name, number)[:TEXT]),
        documents=found,
        more=len(found) == MOST_DOCUMENTS,
    )


def _names(view: View) -> list[str]:
    return [entry["name"] for entry in view.corpus.settings.values["benchmarks"]]


def _tables(view: View, name: str) -> Iterator[tuple[str, NDArray[np.void]]]:
    """Yields of each shard the pieces of a benchmark's items, a row per document and item."""
    place = _names(view).index(name)
    for key, record in view.present(_ATTRIBUTE).items():
        table = view.handle(record).array(_TOUCHED)
        yield key or "", table[table["set"] == place]


def _touched(view: View, name: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns of each item in how many documents it is, and the largest share."""
    rows = sum(
        (file.rows or 0)
        for record in view.present(names.items(name)).values()
        if (file := lines_file(record)) is not None
    )
    counts, shares = np.zeros(rows, np.int64), np.zeros(rows)
    for _, table in _tables(view, name):
        ours = table[table["number"] < rows]
        np.add.at(counts, ours["number"], 1)
        np.maximum.at(shares, ours["number"], ours["share"])
    return counts, shares


def _documents(view: View, name: str, number: int) -> Iterator[dict[str, Any]]:
    """Yields the documents that hold pieces of an item, up to `MOST_DOCUMENTS`."""
    left = MOST_DOCUMENTS
    for key, table in _tables(view, name):
        made = view.partition(READ, key)
        for row, share in table[table["number"] == number][["row", "share"]][:left].tolist():
            left -= 1
            yield {
                "id": shown_id(id_at(made, row), 160) if made else f"row {row}",
                "source": key.partition("--")[0],
                "share": share,
                "href": link("documents", READ, key, row=row, spans=f"contamination__{name}__share") + "#text",
                "why": link("why", shard=key, number=row),
            }


def _text(view: View, name: str, number: int) -> str:
    """Returns the text of an item."""
    first = 0
    for record in view.present(names.items(name)).values():
        file = lines_file(record)
        rows = file.rows or 0 if file is not None else 0
        if file is not None and number < first + rows:
            try:
                (line,) = lines_at(view.handle(record), view.corpus.storage, file, number - first, 1)
            except TooFarError as error:
                return str(error)
            value = decoded(line)
            return beginning(value) if isinstance(value, dict) else line[:TEXT].decode("utf-8", "replace")
        first += rows
    return ""
