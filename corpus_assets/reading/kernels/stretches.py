"""Stretches of a partition's ids with separators, copied from where they begin (definition: `separated.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel

_AT_ONCE = 256


@kernel
def copy_stretches(
    documents: tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]],
    chosen: tuple[NDArray[np.uint32], int],
    separators: tuple[NDArray[np.int64], NDArray[np.int64]],
    stretches: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Copies stretches of the ids of all documents, each between its two `separators` (0 or 1 id each).

    A document without ids has no separators. documents: data, lengths, blocks and begins of a `StreamPartition`.
    chosen: source of each document, and the one whose documents count; -1 for all. stretches: (n, 3): place of the
    first id among all that count, separators included; number of ids, which must be there; place in `out`.
    """
    data, lengths, blocks, begins = documents
    sources, source = chosen
    before, after = separators
    for number in range(len(stretches)):
        place, left, filled = stretches[number, 0], stretches[number, 1], stretches[number, 2]
        document, first, start = _document_at((lengths, blocks, begins), chosen, before.size + after.size, place)
        inside = place - first
        while left > 0:
            length = lengths[document]
            document += 1
            if source >= 0 and sources[document - 1] != source:
                start += length
                continue
            if length == 0:
                continue
            if inside < before.size:
                out[filled] = before[0]
                filled, left, inside = filled + 1, left - 1, inside + 1
            count = min(length - (inside - before.size), left)
            if count > 0:
                used = start + inside - before.size
                _copy(data[used : used + count], out[filled : filled + count])
                filled, left, inside = filled + count, left - count, inside + count
            if after.size and left > 0:
                out[filled] = after[0]
                filled, left = filled + 1, left - 1
            start, inside = start + length, 0


@inlined
def _document_at(
    documents: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]],
    chosen: tuple[NDArray[np.uint32], int],
    around: int,
    place: int,
) -> tuple[int, int, int]:
    """Returns the document that holds a place, and where it begins: among all ids that count, and in the data."""
    lengths, blocks, begins = documents
    sources, source = chosen
    low, high = 0, len(blocks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if blocks[middle, 1] + around * blocks[middle, 2] <= place:
            low = middle
        else:
            high = middle
    document, start = blocks[low, 0], begins[low]
    first = blocks[low, 1] + around * blocks[low, 2]
    while True:
        end = min(document + _AT_ONCE, lengths.size)
        passed, filled = _sums(lengths[document:end])
        ids = passed
        if source >= 0:
            ids, filled = _sums_of(lengths[document:end], sources[document:end], source)
        if first + ids + around * filled > place:
            break
        first, start, document = first + ids + around * filled, start + passed, end
    while True:
        length = lengths[document] if source < 0 or sources[document] == source else 0
        size = length + around * (length != 0)
        if first + size > place:
            return document, first, start
        first, start, document = first + size, start + lengths[document], document + 1


@inlined
def _sums(lengths: NDArray[np.int32]) -> tuple[int, int]:
    """Returns how many ids there are, and how many documents have any."""
    ids, filled = 0, 0
    for i in range(lengths.size):
        ids += lengths[i]
        filled += lengths[i] != 0
    return ids, filled


@inlined
def _sums_of(lengths: NDArray[np.int32], sources: NDArray[np.uint32], source: int) -> tuple[int, int]:
    """Returns the same of the documents of a source."""
    ids, filled = 0, 0
    for i in range(lengths.size):
        if sources[i] == source:
            ids += lengths[i]
            filled += lengths[i] != 0
    return ids, filled


@inlined
def _copy(ids: NDArray[Any], out: NDArray[Any]) -> None:
    for i in range(ids.size):
        out[i] = ids[i]
