"""Which documents of one cluster go because an earlier one is similar, by the shingles of their texts.

The pairs to compare come from prefixes (Bayardo, Ma and Srikant, WWW 2007; Xiao et al., WWW 2008): if the shingles of
all sets have one order, the rarest first, then two sets with a similarity of t or more have one in common among the
first n - ceil(t * n) + 1 of each, n being its size. In documents of one frame these are the shingles that the frame
does not have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.signatures.sketches import Sketches, as_words
from corpus_assets.dedup.similarity.jaccard import Hashes, ShingleSets

_ENTRY_BYTES = 64
"""Memory per shingle of an index, with that of making it."""
_COUNTER_BITS = (10, 22)
_SLACK = 1e-6
_Numbers = NDArray[np.int64]
_Index = tuple[_Numbers, _Numbers, _Numbers, _Numbers, _Numbers]


@dataclass(frozen=True)
class Likeness:
    """When two documents are similar: at a Jaccard similarity of `threshold`, if `least` bits of their sketches agree.

    memory: bytes of the index of a cluster.
    """

    threshold: float
    least: int
    memory: int


def near(sketches: Sketches, least: int, fixed: int) -> NDArray[np.bool_]:
    """Returns which sketches (n, bits / 8) agree in `least` bits with another, shape (n,).

    The first `fixed` are not compared with each other.
    """
    from corpus_assets.dedup.kernels.among import near as mark

    found = np.zeros(len(sketches), dtype=np.bool_)
    mark(as_words(sketches), least, fixed, found)
    return found


def first_similar(
    rows: Sequence[int], sketches: Sketches, sets: ShingleSets, likeness: Likeness, fixed: int = 0
) -> NDArray[np.int64]:
    """Returns for each document (n,) the place of the first earlier one that stays and is similar; else its own.

    A document that stays is one without such an earlier one; the first `fixed` stay unseen. `rows` (n,) are the rows of
    the documents in `sets`, the best document first, `sketches` (n, bits / 8) theirs. The result does not depend on the
    memory: without room for an index each document is compared with all that stay.
    """
    from corpus_assets.dedup.kernels.among import candidates, hold

    index, room = _index(rows, sets, likeness)
    seen, found = np.full(len(rows), -1, dtype=np.int64), np.empty(len(rows), dtype=np.int64)
    held = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64), seen, found
    words, places = as_words(sketches), np.arange(len(rows))
    for place in range(len(rows)):
        count = 0
        if place >= fixed:
            count = candidates(place, index, held, words, (likeness.threshold, likeness.least))
        for other in np.sort(found[:count]).tolist():
            if sets.similarity(rows[other], rows[place]) >= likeness.threshold:
                places[place] = other
                break
        else:
            hold(place, index, held)
    return places


def _index(rows: Sequence[int], sets: ShingleSets, likeness: Likeness) -> tuple[_Index, int]:
    """Returns the index of the kernel `candidates`, with nothing held, and how many entries it has room for."""
    share = 1 - likeness.threshold
    entries = sum(int(sets.most(row) * share) + 2 for row in rows)
    if not rows or entries * _ENTRY_BYTES > likeness.memory or not all(map(sets.fits, rows)):
        # One shingle for all, in sets without a size.
        none, every = np.zeros(len(rows), dtype=np.int64), np.zeros(1, dtype=np.int64)
        return (np.arange(len(rows) + 1), none, every, every.copy(), none), len(rows)
    prefixes, sizes = _prefixes(rows, sets, likeness.threshold)
    starts = np.cumsum([0, *map(len, prefixes)])
    _, runs, counts = np.unique(np.concatenate(prefixes), return_inverse=True, return_counts=True)
    first = np.cumsum(counts) - counts
    index = starts, runs.astype(np.int64), first.astype(np.int64), np.zeros_like(first), sizes
    return index, int(starts[-1])


def _prefixes(rows: Sequence[int], sets: ShingleSets, threshold: float) -> tuple[list[Hashes], NDArray[np.int64]]:
    """Returns the rarest shingles of each set that can be in common with a similar one, and the sizes of the sets.

    What is rare is estimated by counting shingles whose hashes begin alike; any order would do.
    """
    bits = int(np.clip(sum(map(sets.most, rows)).bit_length(), *_COUNTER_BITS))
    counts, shift = np.zeros(1 << bits, dtype=np.int32), np.uint64(64 - bits)
    for row in rows:
        np.add.at(counts, sets.of(row) >> shift, np.int32(1))
    prefixes, sizes = [], np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows):
        hashes = sets.of(row)
        size = sizes[place] = len(hashes)
        wanted = min(size - int(np.ceil(threshold * size - _SLACK)) + 1, size)
        prefixes.append(hashes[np.lexsort((hashes, counts[hashes >> shift]))[:wanted]])
    return prefixes, sizes
