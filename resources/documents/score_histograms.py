"""Histograms of the scores of documents. Their bins are the same for all data, so those of all shards are added.

A bin is 0.02 wide from 0 to 1. Above 1 every power of two is cut into eight bins of equal width, so that whole numbers
below 16 have bins of their own. Bins below 0 mirror those above. Scores beyond 2^40 are in the last bin of their side.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.formats.attributes import Counts, Span

SHARES, PARTS, OCTAVES = 50, 8, 40
MOST_KEYS = 256
"""Most attribute keys that are counted in a shard, since a model may have thousands of labels: the first ones."""

_DOCUMENTS = 4096
_score = itemgetter(2)

Histogram = Mapping[str, Any]
"""low, high: where the first and the last of its bins begin and end. counts: documents in each bin between them, of
the edges that `edges` gives. none: documents without a span."""


class ScoreHistograms:
    """Counts the documents of a shard by the score of each attribute key: the sum of the scores of its spans.

    For spans that each score 1 it is their number. uncounted: scores of keys that came after `MOST_KEYS` others.
    """

    def __init__(self) -> None:
        self.documents = self.spans = self.uncounted = 0
        self._scores: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self._counts: dict[str, NDArray[np.int64]] = {}

    def add(self, found: Mapping[str, Sequence[Span]]) -> None:
        """Counts one document, by the spans of each key."""
        scores, spans = self._scores, 0
        for key, held in found.items():
            count = len(held)
            spans += count
            if type(held) is Counts:
                scores[key].append(held.total)
            else:
                scores[key].append(held[0][2] if count == 1 else sum(map(_score, held)))
        self.spans += spans
        self.documents += 1
        if not self.documents % _DOCUMENTS:
            self._count()

    def histograms(self) -> dict[str, dict[str, Any]]:
        """Returns the histogram of each key, in the order of keys."""
        self._count()
        return {key: _trimmed(counts, self.documents) for key, counts in sorted(self._counts.items())}

    def _count(self) -> None:
        for key, values in self._scores.items():
            if key in self._counts or len(self._counts) < MOST_KEYS:
                counted = np.bincount(bins_of(np.frombuffer(values)), minlength=len(_edges()) - 1)
                self._counts[key] = self._counts[key] + counted if key in self._counts else counted
            else:
                self.uncounted += len(values)
        self._scores.clear()


def bins_of(scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Returns the number of the bin of each score."""
    edges = _edges()
    return np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)


def edges(histogram: Histogram) -> list[float]:
    """Returns where the bins of a histogram begin, and where the last one ends; none without bins."""
    counts = histogram["counts"]
    first = _place(histogram["low"]) if counts else 0
    found: list[float] = _edges()[first : first + len(counts) + 1].tolist() if counts else []
    return found


def added(parts: Iterable[tuple[int, Mapping[str, Histogram]]]) -> dict[str, dict[str, Any]]:
    """Returns the histograms of several shards as one. parts: how many documents each shard has, and its histograms."""
    total: dict[str, NDArray[np.int64]] = {}
    documents = 0
    for count, histograms in parts:
        documents += count
        for key, one in histograms.items():
            held = total.setdefault(key, np.zeros(len(_edges()) - 1, np.int64))
            if one["counts"]:
                first = _place(one["low"])
                held[first : first + len(one["counts"])] += np.array(one["counts"], np.int64)
    return {key: _trimmed(counts, documents) for key, counts in sorted(total.items())}


def _trimmed(counts: NDArray[np.int64], documents: int) -> dict[str, Any]:
    """Returns the histogram between its first and its last bin that is not empty."""
    held = np.flatnonzero(counts)
    none = documents - int(counts.sum())
    if not held.size:
        return {"low": 0.0, "high": 0.0, "counts": [], "none": none}
    first, end = int(held[0]), int(held[-1]) + 1
    low, high = _edges()[[first, end]].tolist()
    return {"low": low, "high": high, "counts": counts[first:end].tolist(), "none": none}


def _place(edge: float) -> int:
    return int(np.searchsorted(_edges(), edge))


@cache
def _edges() -> NDArray[np.float64]:
    """Returns the edges of all bins, ascending; they are the same numbers in every process."""
    shares = np.arange(SHARES) / SHARES
    octaves = np.ldexp(1 + np.arange(PARTS) / PARTS, np.arange(OCTAVES)[:, None]).ravel()
    above = np.concatenate([shares, octaves, [2.0**OCTAVES]])
    return np.concatenate([-above[:0:-1], above])
