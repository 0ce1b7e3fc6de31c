"""Which documents of a cluster are kept, and which of them each other one resembles most."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.semantic.integers import Vectors, cosines, most_similar

BLOCK: Final = 1 << 10
_LEADERS: Final = 1 << 12

Take = Callable[[NDArray[np.int64]], Vectors]


def leaders(take: Take, count: int, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns for each document of a cluster the kept one that it resembles (count,), and how much.

    Documents are numbered in the order in which they are preferred, and `take` returns the vectors of some. A document
    is kept unless one before it is kept whose cosine is `threshold` or more; otherwise it goes for the most similar of
    these. So whatever goes resembles a document that stays. A kept one has its own number.
    """
    instead, scores = np.arange(count), np.zeros(count)
    kept: list[int] = []
    for start in range(0, count, BLOCK):
        numbers = np.arange(start, min(start + BLOCK, count))
        vectors = take(numbers)
        best, of = _among_kept(vectors, take, np.array(kept, dtype=np.int64))
        within = cosines(vectors, vectors)
        new: list[int] = []
        for place in range(len(numbers)):
            if new:
                near = within[place, new]
                first = int(near.argmax())
                if near[first] > best[place]:
                    best[place], of[place] = near[first], start + new[first]
            if best[place] >= threshold:
                instead[start + place], scores[start + place] = of[place], best[place]
            else:
                new.append(place)
        kept += [start + place for place in new]
    return instead, scores


def _among_kept(vectors: Vectors, take: Take, kept: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Returns the largest cosine of each vector with a kept document, and which one that is."""
    best, of = np.full(len(vectors), -2.0), np.full(len(vectors), -1, dtype=np.int64)
    for start in range(0, len(kept), _LEADERS):
        some = kept[start : start + _LEADERS]
        places, largest = most_similar(vectors, take(some))
        better = largest > best
        best[better], of[better] = largest[better], some[places[better]]
    return best, of
