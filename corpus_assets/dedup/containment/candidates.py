"""Which of the larger documents that a document sees may hold it, by how many of its shingles they have."""

from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.holders import Slots
from corpus_assets.dedup.containment.samples import ASKED
from corpus_assets.dedup.documents.numbering import Edges

MOST = 64
"""Documents that one document is compared with."""

_SELDOM = 1e-4
"""Chance that a document which holds enough of another is not compared with it, because of the sample."""


@lru_cache
def lacking(contained: float) -> NDArray[np.int64]:
    """Returns how many of n shingles may be missing in a document that holds a share `contained`, for n up to `ASKED`.

    More are missing by chance once in 10,000; at least one must be there.
    """
    return np.array([_lacking(asked, 1 - contained) for asked in range(ASKED + 1)], dtype=np.int64)


def _lacking(asked: int, gone: float) -> int:
    rest = 1.0
    for missing in range(asked):
        rest -= comb(asked, missing) * gone**missing * (1 - gone) ** (asked - missing)
        if rest < _SELDOM:
            return missing
    return max(asked - 1, 0)


def possible_holders(rows: NDArray[np.void], contained: float) -> tuple[Edges, int]:
    """Returns the pairs (n, 2) of a document and one that may hold it, and how many more were left out.

    rows: what some documents see (`seen_rows`), all of each. A document is compared with up to `MOST`, those that have
    most of its shingles.
    """
    if not len(rows):
        return np.ascontiguousarray(rows["pair"]), 0
    rows = rows[np.lexsort((rows["pair"][:, 1], rows["pair"][:, 0]))]
    documents, others, slots = rows["pair"][:, 0], rows["pair"][:, 1], Slots.of(rows)
    firsts = np.flatnonzero(np.append(True, documents[1:] != documents[:-1]))
    group = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(rows)))
    starts = np.flatnonzero(np.append(True, (others[1:] != others[:-1]) | (group[1:] != group[:-1])))
    shown = np.diff(starts, append=len(rows))
    always = slots.slot < ASKED
    shown_all = np.add.reduceat((slots.is_all & always).astype(np.int64), starts)
    asked = rows["asked"][starts].astype(np.int64)
    # A shingle for which nothing is seen is in no larger document; where all are seen, those that are not lack it.
    # Of the others, which are looked for only if they are rare, nothing follows from what is not seen.
    known, known_all = _shingles(group[always], Slots(slots.slot[always], slots.is_all[always]), len(firsts))
    owner = group[starts]
    lacks = asked - known[owner] + known_all[owner] - shown_all
    may = np.flatnonzero(lacks <= lacking(contained)[asked])
    pairs = np.ascontiguousarray(rows["pair"][starts[may]])
    order = np.lexsort((pairs[:, 1], -shown[may], pairs[:, 0]))
    pairs = pairs[order]
    first = np.searchsorted(pairs[:, 0], pairs[:, 0])
    compared = np.arange(len(pairs)) - first < MOST
    return pairs[compared], int((~compared).sum())


def _shingles(group: NDArray[np.int64], slots: Slots, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns of each document how many of its shingles any larger one has, and for how many of them all are seen."""
    bits = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    marks = np.uint64(1) << slots.slot.astype(np.uint64)
    np.bitwise_or.at(bits[0], group, marks)
    np.bitwise_or.at(bits[1], group[slots.is_all], marks[slots.is_all])
    every, whole = (np.bitwise_count(one).astype(np.int64) for one in bits)
    return every, whole
