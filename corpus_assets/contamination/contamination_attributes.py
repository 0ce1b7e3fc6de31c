"""The asset `contamination_attributes`: pieces of benchmark items in the documents of a shard, as Dolma attributes."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.benchmark_ngrams import SETS, stored_index
from corpus_assets.contamination.evidence import Evidence, Held
from corpus_assets.contamination.items import ItemRow, decode_item
from resources.formats.attributes import Item, Span
from resources.formats.row_tables import identifiers
from resources.stage.task import Task

ATTRIBUTE = "contamination"
_SHARE, _ITEM, _ANY = "share", "item", "any"
ITEM_TYPES: Final = (_SHARE, _ITEM)
"""Types of spans of each set."""
ANY_TYPES: Final = {_ANY: (_SHARE,)}
"""Types of spans of all sets together."""
TOUCHED = np.dtype([("row", "<u4"), ("set", "<u4"), ("number", "<u4"), ("share", "<f8")])
"""An item of which a document holds a piece: row of the document, position of the set in the configuration, number of
the item in the set, share of it.
"""


class _Named(msgspec.Struct):
    """The identity of a document."""

    id: str
    source: str


def contamination_attributes(task: Task) -> None:
    """Writes a row per document: the spans that it shares with items, with the share and number of each item."""
    index, _ = stored_index(task.input("benchmark_ngrams"))
    hits = task.input("benchmark_hits").array(".hits.npy")
    # Most shards of a clean corpus have no hits and need no table of items.
    items = [decode_item(line) for line in task.input("benchmark_ngrams").lines()] if len(hits) else []
    places = {name: place for place, name in enumerate(task[SETS])}
    evidence = Evidence(index, np.asarray(task.input("boilerplate_ngrams").array(".npy")))
    documents, source = task.input("normalized_documents"), task.shard.source
    ids = identifiers(documents.array(".texts.npy")["id_end"], documents.array(".ids.npy"))
    spans = touched_rows = 0
    path = f"attributes/{ATTRIBUTE}/{source}/{task.shard.name}.touched.npy"
    with task.array(path, TOUCHED) as touched, task.attributes(ATTRIBUTE) as out:
        found = _by_row(hits, evidence)
        next_row, held = next(found, (-1, []))
        for row, identifier in enumerate(ids):
            if row != next_row:
                out.add(_Named(identifier, source), {})
                continue
            attributes = attributes_of(held, items)
            out.add(_Named(identifier, source), attributes, items=_named(held, items) or None)
            spans += sum(len(entry.spans) for entry in held)
            touched_rows += bool(held)
            rows = ((items[entry.item], entry.share) for entry in held)
            table = [(row, places[item.set], item.number, share) for item, share in rows]
            touched.append(np.array(table, dtype=TOUCHED))
            next_row, held = next(found, (-1, []))
    task.count(rows_in=out.rows, rows_out=out.rows, spans=spans, documents_touched=touched_rows)


def _by_row(hits: NDArray[np.uint32], evidence: Evidence) -> Iterator[tuple[int, list[Held]]]:
    """Yields the rows with hits, ascending, and the items of which they hold pieces."""
    rows, starts = np.unique(hits[:, 0], return_index=True)
    for row, block in zip(rows.tolist(), np.split(hits[:, 1:], starts)[1:], strict=True):
        yield row, evidence.of(np.array(block))


def attributes_of(held: Sequence[Held], items: Sequence[ItemRow]) -> dict[str, list[Span]]:
    """Returns the spans of a document by attribute key.

    For each set `share` and `item`, with spans in the same order: the share of the item that the document holds, and
    the item's number. For all sets together `any__share`: a span from the first to the last piece, with the largest
    share.
    """
    if not held:
        return {}
    by_set: dict[str, list[tuple[int, int, int, float]]] = {}
    for entry in held:
        item = items[entry.item]
        found = by_set.setdefault(item.set, [])
        found += [(start, end, item.number, entry.share) for start, end in entry.spans]
    first, last = min(entry.spans[0][0] for entry in held), max(entry.spans[-1][1] for entry in held)
    attributes: dict[str, list[Span]] = {key_of(_ANY, _SHARE): [(first, last, max(entry.share for entry in held))]}
    for name, found in by_set.items():
        attributes[key_of(name, _SHARE)] = [(start, end, share) for start, end, _, share in sorted(found)]
        attributes[key_of(name, _ITEM)] = [(start, end, float(number)) for start, end, number, _ in sorted(found)]
    return attributes


def key_of(benchmark: str, kind: str) -> str:
    """Returns the attribute key of a set."""
    return f"{ATTRIBUTE}__{re.sub('[^A-Za-z0-9_]', '_', benchmark)}__{kind}"


def _named(held: Sequence[Held], items: Sequence[ItemRow]) -> list[Item]:
    rows = ((items[entry.item], entry.share) for entry in held)
    return [{"set": item.set, "number": item.number, "id": item.id, "share": share} for item, share in rows]
