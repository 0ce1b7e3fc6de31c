"""The asset `contamination_report`: how much of each benchmark is in the corpus, and the worst documents."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.benchmark_ngrams import SETS, stored_index
from corpus_assets.contamination.items import MANY, ItemRow, decode_item, ngrams_of_items, shares_in_common
from resources.formats.attributes import attribute_rows
from resources.raw_places.files import printable
from resources.stage.partition import Partition
from resources.stage.task import Task

WORST = 20
_SHOWN = 100
SHARED = "alike"
FOUND = "benchmarks"
"""Counters: the findings for each benchmark."""


@dataclass
class Document:
    """A document that holds pieces of a set's items.

    items: how many.
    held: of how many a share that reaches the limit.
    share: the largest one.
    """

    shard: str
    row: int
    items: int
    held: int
    share: float

    @property
    def rank(self) -> tuple[int, float, int, str, int]:
        """Worst documents come first."""
        return (-self.held, -self.share, -self.items, self.shard, self.row)


@dataclass
class Tally:
    """The findings on all items, added shard by shard. Memory: some bytes per item.

    names: of the sets, in the order of their rows.
    limit: share of an item from which on a document holds it.
    """

    names: Sequence[str]
    rows: Sequence[ItemRow]
    limit: float
    largest: NDArray[np.float64] = field(init=False)
    documents_of: NDArray[np.int64] = field(init=False)
    documents: dict[str, int] = field(init=False)
    holding: dict[str, int] = field(init=False)
    worst: dict[str, list[Document]] = field(init=False)

    def __post_init__(self) -> None:
        self.largest = np.zeros(len(self.rows))
        self.documents_of = np.zeros(len(self.rows), dtype=np.int64)
        self.documents, self.holding = dict.fromkeys(self.names, 0), dict.fromkeys(self.names, 0)
        self.worst = {name: [] for name in self.names}
        sizes = Counter(row.set for row in self.rows)
        self._first = np.cumsum([0, *(sizes[name] for name in self.names)])

    def add(self, shard: str, touched: NDArray[np.void]) -> None:
        """Adds the table `touched` of a shard."""
        for place, name in enumerate(self.names):
            ours = touched[touched["set"] == place]
            if len(ours):
                self._add_set(name, shard, self._first[place] + ours["number"].astype(np.int64), ours)

    def _add_set(self, name: str, shard: str, items: NDArray[np.int64], touched: NDArray[np.void]) -> None:
        shares = touched["share"]
        np.maximum.at(self.largest, items, shares)
        np.add.at(self.documents_of, items, 1)
        rows, of = np.unique(touched["row"], return_inverse=True)
        counts = np.bincount(of)
        held = np.bincount(of, weights=shares >= self.limit).astype(np.int64)
        largest = np.zeros(len(rows))
        np.maximum.at(largest, of, shares)
        self.documents[name] += len(rows)
        self.holding[name] += int(np.count_nonzero(held))
        order = np.lexsort((rows, -counts, -largest, -held))[:WORST]
        self._put(name, shard, [(rows[n], counts[n], held[n], largest[n]) for n in order])

    def _put(self, name: str, shard: str, found: Iterable[tuple[Any, ...]]) -> None:
        new = [Document(shard, int(row), int(items), int(held), float(share)) for row, items, held, share in found]
        self.worst[name] = sorted([*self.worst[name], *new], key=lambda document: document.rank)[:WORST]

    def numbers(self, name: str, counting: NDArray[np.int64]) -> dict[str, Any]:
        """Returns the numbers of one set. counting: number of counting n-grams of each item."""
        ours = [number for number, row in enumerate(self.rows) if row.set == name]
        searched = [number for number in ours if self.rows[number].search in ("ngrams", "whole")]
        largest = self.largest[ours]
        return {
            "items": len(ours),
            "touched": int(np.count_nonzero(largest)),
            "held": int(np.count_nonzero((largest > 0) & (largest >= self.limit))),
            "whole": int(np.count_nonzero(largest >= 1)),
            "too_short": sum(self.rows[number].search == "too_short" for number in ours),
            "template": sum(self.rows[number].search == "template" for number in ours),
            "boilerplate": int(np.count_nonzero(counting[searched] == 0)),
            "documents_touched": self.documents[name],
            "documents_holding": self.holding[name],
        }

    def shared(self, name: str, common: NDArray[np.float64]) -> int:
        """Returns how many items of a set are held only to the share that they have in common with other items.

        common: the share of each item's n-grams that are in many items.
        """
        ours = np.asarray([row.set == name for row in self.rows], dtype=np.bool_)
        held = ours & (self.largest > 0) & (self.largest >= self.limit)
        return int(np.count_nonzero(held & (common >= self.limit) & (common > 0)))

    def worst_items(self, name: str) -> list[dict[str, Any]]:
        """Returns the items of a set with pieces in most documents."""
        ours = [number for number, row in enumerate(self.rows) if row.set == name and self.documents_of[number]]
        ours.sort(key=lambda number: (-self.documents_of[number], -self.largest[number], number))
        return [
            {
                "number": self.rows[number].number,
                "id": self.rows[number].id,
                "documents": int(self.documents_of[number]),
                "share": float(self.largest[number]),
            }
            for number in ours[:WORST]
        ]


def contamination_report(task: Task) -> None:
    """Writes for every benchmark the items with pieces in documents, and the worst documents."""
    index, _ = stored_index(task.input("benchmark_ngrams"))
    muted = np.zeros(len(index.keys), dtype=np.bool_)
    muted[task.input("boilerplate_ngrams").array(".npy")] = True
    rows = [decode_item(line) for line in task.input("benchmark_ngrams").lines()]
    tally = Tally(task[SETS], rows, task["contamination.share"])
    shards = {shard.key or "": shard for shard in task.inputs("contamination_attributes")}
    for key, shard in shards.items():
        tally.add(key, shard.array(".touched.npy"))
    counting = ngrams_of_items(index, muted)
    common = shares_in_common(index, muted)
    numbers = {name: {**tally.numbers(name, counting), SHARED: tally.shared(name, common)} for name in task[SETS]}
    names = dict(_names(shards, (document for worst in tally.worst.values() for document in worst)))
    report = {
        name: {
            **numbers[name],
            "worst_documents": [_shown(document, names) for document in tally.worst[name]],
            "worst_items": tally.worst_items(name),
        }
        for name in numbers
    }
    task.save_json("contamination/report.json", {"share": tally.limit, FOUND: report}, rows=len(report))
    task.save_counters(FOUND, numbers)
    task.count(rows_out=len(report), boilerplate_ngrams=int(muted.sum()), **_statistics(report))


def _statistics(report: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the numbers of each set and its worst document, for the web UI."""
    shown: dict[str, Any] = {}
    for name, found in report.items():
        shown[f"{name}: items touched"] = found["touched"]
        shown[f"{name}: items held"] = found["held"]
        shown[f"{name}: items in all"] = found["items"]
        shown[f"{name}: documents touched"] = found["documents_touched"]
        if worst := found["worst_documents"]:
            shown[f"{name}: worst document"] = (
                f"{worst[0]['source']} {printable(worst[0]['id'])[:_SHOWN]}: {worst[0]['held']} items held, largest "
                f"share {worst[0]['share']:.2f}"
            )
    return shown


def _shown(document: Document, names: Mapping[tuple[str, int], tuple[str, str]]) -> dict[str, Any]:
    source, identifier = names[document.shard, document.row]
    return {"source": source, "id": identifier, **document.__dict__}


def _names(
    shards: Mapping[str, Partition], documents: Iterable[Document]
) -> Iterator[tuple[tuple[str, int], tuple[str, str]]]:
    """Yields source and id of documents by shard and row."""
    wanted: dict[str, set[int]] = {}
    for document in documents:
        wanted.setdefault(document.shard, set()).add(document.row)
    for key, rows in wanted.items():
        for row, line in enumerate(islice(attribute_rows(shards[key].lines()), max(rows) + 1)):
            if row in rows:
                yield (key, row), (line.source, line.id)


def report_notes(partitions: Sequence[Partition], settings: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each benchmark: how many of its items are in the corpus, and which were not searched."""
    share = settings["contamination"]["share"]
    for partition in partitions:
        for name, found in partition.counters(FOUND).items():
            yield (
                f"benchmark {name}: {found['held']:,} of {found['items']:,} items are in documents, with "
                f"{100 * share:g}% of their words or more ({found['documents_holding']:,} documents); "
                f"{found['whole']:,} of them as a whole"
            )
            if shared := found.get(SHARED, 0):
                yield (
                    f"benchmark {name}: of the {found['held']:,} items held, {shared:,} are alike: most of their "
                    f"n-grams are in {MANY} items or more, so a document may hold a form of the benchmark and no "
                    "answer; lower contamination.item_share or item_limit if it is one"
                )
            absent = {what: found[what] for what in ("too_short", "template", "boilerplate") if found[what]}
            if absent:
                words = ", ".join(f"{what} {count:,}" for what, count in absent.items())
                yield f"benchmark {name}: {sum(absent.values()):,} items were not looked for ({words})"
