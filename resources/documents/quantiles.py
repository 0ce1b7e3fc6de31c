"""Exact quantiles of scores that lie in many arrays, in bounded memory: a search digit by digit (radix selection).

A score is taken as the 64 bits of its double, so changed that their order is that of the numbers. Each pass over the
arrays counts the next digit of the scores that begin like a wanted one. So the result is a score that exists, it is
exact, and it depends neither on the order of the arrays nor on how many there are.
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

SCORE = np.dtype([("score", "<f8"), ("count", "<u8")])
"""A score, and how many documents have it."""

_DIGITS, _SMALL_DIGITS = (11, 11, 11, 11, 11, 9), (6,) * 10 + (4,)
_FEW = 100
"""Up to so many borders are found with large digits; memory is a counter for each border and value of a digit."""
_SIGN = np.uint64(1 << 63)


def counted(scores: Sequence[float]) -> NDArray[np.void]:
    """Returns scores in ascending order, each once with its count."""
    values, counts = np.unique(np.array(scores, np.float64) + 0.0, return_counts=True)
    table = np.empty(len(values), SCORE)
    table["score"], table["count"] = values, counts
    return table


def quantiles(tables: Callable[[], Iterable[NDArray[np.void]]], shares: Sequence[Fraction]) -> list[float]:
    """Returns the borders of scores up to shares of all documents with one, or none if there are no scores.

    A border is the least score s for which at least that share of all scores is at most s.
    """
    total = sum(int(table["count"].sum()) for table in tables())
    if not total or not shares:
        return []
    ranks = np.array([max(0, ceil(share * total) - 1) for share in shares], np.int64)
    found = np.zeros(len(ranks), np.uint64)
    done = 0
    for width in _DIGITS if len(shares) <= _FEW else _SMALL_DIGITS:
        starts = np.unique(found)
        counts = np.zeros((len(starts), 1 << width), np.int64)
        for table in tables():
            _count(counts, starts, table, done, width)
        sums = np.cumsum(counts, axis=1)
        for place, start in enumerate(np.searchsorted(starts, found).tolist()):
            digit = int(np.searchsorted(sums[start], ranks[place], side="right"))
            ranks[place] -= sums[start, digit - 1] if digit else 0
            found[place] = (int(found[place]) << width) | digit
        done += width
    return [float(score) for score in _scores(found)]


def _count(
    counts: NDArray[np.int64], starts: NDArray[np.uint64], table: NDArray[np.void], done: int, width: int
) -> None:
    """Adds the documents of a table to the counts of the digit behind each start. done: bits that a start has."""
    keys = _keys(table["score"])
    heads = keys >> np.uint64(64 - done) if done else np.zeros(len(keys), np.uint64)
    places = np.minimum(np.searchsorted(starts, heads), len(starts) - 1)
    same = starts[places] == heads
    digits = (keys[same] >> np.uint64(64 - done - width)) & np.uint64((1 << width) - 1)
    np.add.at(counts, (places[same], digits.astype(np.int64)), table["count"][same].astype(np.int64))


def _keys(scores: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Returns the bits of doubles as numbers in the same order."""
    bits = np.ascontiguousarray(scores).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _scores(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    bits = np.where(keys & _SIGN, keys & ~_SIGN, ~keys)
    return np.ascontiguousarray(bits).view(np.float64)
