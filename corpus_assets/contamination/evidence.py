"""Computes from shared n-grams the items that a document holds: their spans, and the share of each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.contamination.index import NO_NGRAM, Index
from corpus_assets.contamination.search import Hits

DIGITS = 5
"""Digits after the point of a share."""

Places = NDArray[np.int64]


class Held(NamedTuple):
    """An item of which a document holds a piece.

    share: of the item's words that lie in counting n-grams, 1.0 if the document holds all of them. spans: beginnings
    and ends in code points of the document, ascending and separate.
    """

    item: int
    share: float
    spans: list[tuple[int, int]]


class Evidence:
    """Computes the held items from hits. Memory: a byte per n-gram; the index may be mapped files."""

    def __init__(self, index: Index, muted: NDArray[np.integer]) -> None:
        """muted: numbers of the n-grams that do not count because they are boilerplate."""
        self._index = index
        self._counts = np.ones(len(index.keys), dtype=np.bool_)
        self._counts[muted] = False
        self._countable: dict[int, int] = {}

    def of(self, hits: Hits) -> list[Held]:
        """Returns the items of which one document holds pieces, by number. hits: all of the document's."""
        hits = hits[self._counts[hits[:, 2]]]
        if not len(hits):
            return []
        ngrams = hits[:, 2].astype(np.int64)
        ends = self._index.ends[ngrams].astype(np.int64)
        starts = np.where(ngrams > 0, self._index.ends[ngrams - 1], 0)
        sizes = ends - starts
        of_hit = np.repeat(np.arange(len(hits)), sizes)
        steps = np.arange(len(of_hit)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        places = self._index.places[starts[of_hit] + steps].astype(np.int64)
        items = np.searchsorted(self._index.items, places, side="right") - 1
        order = np.argsort(items, kind="stable")
        cuts = np.flatnonzero(np.diff(items[order])) + 1
        return [self._held(int(items[group[0]]), hits[of_hit[group]], places[group]) for group in np.split(order, cuts)]

    def _held(self, item: int, hits: Hits, places: Places) -> Held:
        lengths = self._index.lengths[hits[:, 2]].astype(np.int64)
        covered = sum(end - start for start, end in united(places, places + lengths))
        spans = united(hits[:, 0].astype(np.int64), hits[:, 1].astype(np.int64))
        return Held(item, round(covered / self._countable_words(item), DIGITS), spans)

    def _countable_words(self, item: int) -> int:
        """Returns how many words of an item lie in counting n-grams."""
        if item not in self._countable:
            start, end = (int(place) for place in self._index.items[item : item + 2])
            ngrams = np.asarray(self._index.ngrams[start:end])
            places = np.flatnonzero(ngrams != NO_NGRAM)
            places = places[self._counts[ngrams[places]]]
            lengths = self._index.lengths[ngrams[places]].astype(np.int64)
            self._countable[item] = sum(last - first for first, last in united(places, places + lengths))
        return self._countable[item]


def united(starts: Places, ends: Places) -> list[tuple[int, int]]:
    """Returns the union of nonempty intervals as ascending, separate intervals."""
    order = np.lexsort((ends, starts))
    starts, reach = starts[order], np.maximum.accumulate(ends[order])
    first = np.ones(len(starts), dtype=np.bool_)
    first[1:] = starts[1:] > reach[:-1]
    last = np.append(first[1:], True)
    return list(zip(starts[first].tolist(), reach[last].tolist(), strict=True))
