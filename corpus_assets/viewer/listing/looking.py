"""Looks through documents for those that are asked for, within limits of documents and time."""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import shard_source
from corpus_assets.filter.assets import READ
from corpus_assets.tracing.look import Look
from corpus_assets.tracing.tables import count_of
from corpus_assets.viewer.listing.fates import KEPT, UNKNOWN, fates_of
from corpus_assets.viewer.listing.values import FATE, SOURCE, WORDS, Block
from corpus_assets.viewer.opened import View
from corpus_assets.viewer.query import RefusedError
from resources.stage.partition import Partition

BLOCK = 4096
MOST_DOCUMENTS = 200_000
SECONDS = 2.0
"""Most documents that one page looks at, and for how long. One block is always looked at."""

DROPPED = "dropped"
"""A fate that is asked for: any but `KEPT` and `UNKNOWN`."""

IN_ORDER, LEAST, MOST = "corpus", "least", "most"
ORDERS = (IN_ORDER, LEAST, MOST)


@dataclass(frozen=True)
class Range:
    """A number of documents, by its name, that is at least `low` and at most `high`, where these are given."""

    name: str
    low: float | None = None
    high: float | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether it leaves out any document."""
        return self.low is not None or self.high is not None

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Returns which numbers it holds; NaN is in none."""
        low, high = (-np.inf if self.low is None else self.low), (np.inf if self.high is None else self.high)
        return (values >= low) & (values <= high)


@dataclass(frozen=True)
class Wanted:
    """Which documents are asked for.

    words: by each of `WORDS` the word that they must have; empty for any.
    ranges: one or more, all of which must hold a document's numbers.
    order: one of `ORDERS`: as in the corpus, or by the number of the first range, which leaves out those without it.
    """

    words: dict[str, str]
    ranges: tuple[Range, ...]
    order: str = IN_ORDER

    @property
    def number(self) -> str:
        """The name of the number that is shown and sorted by."""
        return self.ranges[0].name

    @property
    def asked(self) -> tuple[Range, ...]:
        """The ranges that leave out documents."""
        first, *others = self.ranges
        return (first, *others) if first.is_bounded or self.order != IN_ORDER else tuple(others)


@dataclass(frozen=True)
class Looked:
    """What was found.

    shards: the shards of all documents. places: (found, 2): the number of a shard, and the row there. numbers: (found,)
    the number of each; NaN where it has none or none is asked for. looked_at, total: documents. cursor: where to go on;
    empty if everything was looked at.
    """

    shards: list[Partition]
    places: NDArray[np.int64]
    numbers: NDArray[np.float64]
    looked_at: int
    total: int
    cursor: str


class Looking:
    """One look through documents in blocks, up to the limits of a page, from a cursor on.

    looked_at, total: documents. cursor: where to go on; empty if all were looked at.
    """

    def __init__(self, view: View, wanted: Wanted, cursor: str) -> None:
        self._view, self._look, self._wanted = view, view.look(), wanted
        self.shards = [made for made in _documents(self._look) if wanted.words[SOURCE] in ("", _source(made))]
        self._first = _place(cursor, self.shards)
        self.total = sum(map(count_of, self.shards))
        self.looked_at, self.cursor = 0, ""

    def __iter__(self) -> Iterator[tuple[int, Block, NDArray[np.int64], NDArray[np.float64]]]:
        """Yields blocks: number of the shard, documents, which of them are asked for, and the number of each."""
        until = monotonic() + SECONDS
        for shard, block in self._blocks():
            if self.looked_at and (self.looked_at + BLOCK > MOST_DOCUMENTS or monotonic() > until):
                self.cursor = cursor_of(self.shards[shard], block.first)
                return
            self.looked_at += block.end - block.first
            yield shard, block, *chosen(block, self._wanted)

    def stopped(self, block: Block, row: int) -> None:
        """Notes that the rows of a block from one on were not looked at."""
        self.looked_at -= block.end - block.first - row
        self.cursor = cursor_of(block.documents, block.first + row)

    def _blocks(self) -> Iterator[tuple[int, Block]]:
        first, row = self._first
        for number in range(first, len(self.shards)):
            rows = count_of(self.shards[number])
            for start in range(row, rows, BLOCK):
                yield number, Block(self._view, self._look, self.shards[number], start, min(rows, start + BLOCK))
            row = 0


def look_for(view: View, wanted: Wanted, cursor: str, *, enough: int | None = None) -> Looked:
    """Returns the documents that are asked for. enough: found ones after which it stops, if they need no sorting."""
    looking = Looking(view, wanted, cursor)
    places, numbers, found = [np.empty((0, 2), np.int64)], [np.empty(0)], 0
    for shard, block, asked_for, values in looking:
        left = len(asked_for) if enough is None else enough - found
        full, rows = left < len(asked_for), asked_for[:left]
        if full:
            looking.stopped(block, int(asked_for[left]))
        places.append(np.column_stack([np.full(len(rows), shard), block.first + rows]).astype(np.int64))
        numbers.append(values[rows])
        found += len(rows)
        if full:
            break
    in_order = _sorted(np.concatenate(places), np.concatenate(numbers), wanted.order)
    return Looked(looking.shards, *in_order, looking.looked_at, looking.total, looking.cursor)


def chosen(block: Block, wanted: Wanted) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns which rows of a block are asked for, and the first number of each row; all NaN if none is asked for."""
    picked = np.ones(block.end - block.first, np.bool_)
    if fate := wanted.words[FATE]:
        picked &= _of_fate(block, fate)
    values = np.full(len(picked), np.nan)
    for place, asked in enumerate(wanted.asked):
        if picked.any():
            found = block.numbers(asked.name)
            picked &= asked.holds(found)
            values = values if place else found
    for name in WORDS:
        if name not in (SOURCE, FATE) and wanted.words[name] and picked.any():
            picked &= np.array([word == wanted.words[name] for word in block.words(name)], np.bool_)
    return np.flatnonzero(picked), values


def _of_fate(block: Block, fate: str) -> NDArray[np.bool_]:
    fates = fates_of(block.look, block.documents)
    if fate != DROPPED:
        return fates.chosen(fate, block.first, block.end)
    return ~(fates.chosen(KEPT, block.first, block.end) | fates.chosen(UNKNOWN, block.first, block.end))


def _sorted(places: NDArray[Any], numbers: NDArray[Any], order: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if order == IN_ORDER:
        return places, numbers
    by = np.argsort(numbers if order == LEAST else -numbers, kind="stable")
    return places[by], numbers[by]


def _documents(look: Look) -> list[Partition]:
    """Returns the shards of all sources that the corpus has now, in order."""
    return [made for made in look.partitions(READ) if look.planner.shard(made.key) is not None]


def _source(made: Partition) -> str:
    return shard_source(made.key or "")


def cursor_of(shard: Partition, row: int) -> str:
    """Returns the cursor of a document."""
    return f"{shard.key}:{row}"


def _place(cursor: str, shards: list[Partition]) -> tuple[int, int]:
    """Returns the number of a shard and a row; `RefusedError` for what is none of these shards."""
    if not cursor:
        return 0, 0
    key, _, row = cursor.rpartition(":")
    known = [made.key for made in shards]
    if key not in known or not (row.isascii() and row.isdigit() and len(row) < 16):
        raise RefusedError(404, "The place to go on from is in no file of this list. Begin with the first documents.")
    return known.index(key), int(row)
