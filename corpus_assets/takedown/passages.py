"""Finds passages of texts in rows of tokens, by the ids alone."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

PASSAGE: Final = 16
"""Ids of the shortest passage that is searched for, in texts with at least so many."""

SHORTEST: Final = 8
"""Ids of the shortest text that is searched for; one with fewer than `PASSAGE` is found only as a whole."""

Ids = NDArray[np.int32]

_FILTER_BITS: Final = 24
_BASE: Final = 0x9E3779B97F4A7C15
_MIX: Final = np.uint64(0xD6E8FEB86659FD93)
_HALF: Final = np.uint64(32)


class Passage(NamedTuple):
    """Common ids of a text and a row: `length` many, from `place` of the text and `column` of the row on."""

    text: int
    place: int
    row: int
    column: int
    length: int


class _Table(NamedTuple):
    """Stretches of texts, ascending by key. maybe (2^24,): whether any key begins with these bits."""

    keys: NDArray[np.uint64]
    texts: NDArray[np.int64]
    places: NDArray[np.int64]
    maybe: NDArray[np.bool_]


class Passages:
    """Texts to search for. Memory: about 60 bytes per id of them."""

    def __init__(self, texts: Sequence[Ids]) -> None:
        self._texts = texts
        self._anywhere = {width: _table(texts, width, once=True) for width in (PASSAGE, SHORTEST)}

    def find(self, rows: Ids) -> Iterator[Passage]:
        """Yields the passages in rows (n, L), each in full length; equal stretches of texts count for the first one.

        A long text is found by any passage of `PASSAGE` ids, a shorter text as a whole.
        """
        for width, table in self._anywhere.items():
            last: Passage | None = None
            for row, column, text, place in _met(table, rows, width):
                if last is not None and _covers(last, row, column, text, place):
                    continue
                found = _longest(self._texts[text], place, rows[row], column)
                if found.length >= min(PASSAGE, len(self._texts[text])):
                    last = found._replace(text=text, row=row)
                    yield last


class Whole:
    """Texts that are searched for as a whole in other texts."""

    def __init__(self, texts: Sequence[Ids]) -> None:
        self._texts = texts
        self._beginnings = {width: _table(texts, width, once=False) for width in (PASSAGE, SHORTEST)}

    def find(self, ids: Ids) -> set[int]:
        """Returns the numbers of the texts that are part of the given ids (n,)."""
        found: set[int] = set()
        for width, table in self._beginnings.items():
            for _, column, text, _ in _met(table, ids[None], width):
                wanted = self._texts[text]
                if text not in found and np.array_equal(ids[column : column + len(wanted)], wanted):
                    found.add(text)
        return found


def _table(texts: Sequence[Ids], width: int, *, once: bool) -> _Table:
    """Returns the stretches of texts with so many ids.

    once: all stretches, the first of equal ones; else only those at the beginning of texts.
    """
    chosen = [number for number, ids in enumerate(texts) if (len(ids) >= PASSAGE) == (width == PASSAGE)]
    chosen = [number for number in chosen if len(texts[number]) >= width]
    every = once and width == PASSAGE
    found = [_keys(texts[number] if every else texts[number][:width], width) for number in chosen]
    sizes = [len(keys) for keys in found]
    keys = np.concatenate(found) if found else np.empty(0, np.uint64)
    places = np.concatenate([np.arange(size) for size in sizes]) if found else np.empty(0, np.int64)
    owners = np.repeat(np.array(chosen, np.int64), sizes)
    order = np.argsort(keys, kind="stable")
    if once:
        order = order[np.concatenate([[True], np.diff(keys[order]) != 0])[: len(order)]]
    maybe = np.zeros(1 << _FILTER_BITS, np.bool_)
    maybe[_filter_bits(keys)] = True
    return _Table(keys[order], owners[order], places[order], maybe)


def _keys(ids: Ids, width: int) -> NDArray[np.uint64]:
    """Returns a hash of every stretch of `width` ids, a power of two, along the last axis (..., L - width + 1)."""
    keys = ids.astype(np.uint64) * _MIX
    keys = (keys ^ keys >> _HALF) * _MIX
    step, base = 1, _BASE
    while step < width:
        keys = keys[..., :-step] * np.uint64(base) + keys[..., step:]
        step, base = step * 2, base * base % (1 << 64)
    keys = (keys ^ keys >> _HALF) * _MIX
    return np.asarray(keys, np.uint64)


def _filter_bits(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return keys >> np.uint64(64 - _FILTER_BITS)


def _met(table: _Table, rows: Ids, width: int) -> Iterator[tuple[int, int, int, int]]:
    """Yields row, column, text and place of stretches with equal keys, in the order of rows and columns.

    Of stretches that are neighbours in both a row and a text, only the first.
    """
    if not len(table.keys) or rows.shape[1] < width:
        return
    keys = _keys(rows, width)
    columns = keys.shape[1]
    places = np.flatnonzero(table.maybe[_filter_bits(keys)])
    wanted = keys.ravel()[places]
    first = np.searchsorted(table.keys, wanted, side="left")
    counts = np.searchsorted(table.keys, wanted, side="right") - first
    numbers = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    row, column = np.divmod(np.repeat(places, counts), columns)
    text, place = table.texts[numbers], table.places[numbers]
    found = np.stack([row, column, text, place], axis=1)
    goes_on = np.zeros(len(found), np.bool_)
    goes_on[1:] = (np.diff(found, axis=0) == [0, 1, 0, 1]).all(axis=1)
    for one in found[~goes_on].tolist():
        yield one[0], one[1], one[2], one[3]


def _covers(passage: Passage, row: int, column: int, text: int, place: int) -> bool:
    """Returns whether an earlier passage holds the id at this place of a text and of a row."""
    ahead = column - passage.column
    return (row, text, place - passage.place) == (passage.row, passage.text, ahead) and ahead < passage.length


def _longest(text: Ids, place: int, row: Ids, column: int) -> Passage:
    """Returns the passage around a place of a text and a column of a row, without their numbers."""
    ahead = _equal(text[place:], row[column:])
    behind = _equal(text[:place][::-1], row[:column][::-1])
    return Passage(0, place - behind, 0, column - behind, behind + ahead)


def _equal(left: Ids, right: Ids) -> int:
    """Returns the number of equal ids from the beginning on."""
    size = min(len(left), len(right))
    differ = left[:size] != right[:size]
    return int(differ.argmax()) if differ.any() else size
