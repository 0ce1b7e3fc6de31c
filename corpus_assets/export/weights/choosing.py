"""Which documents of a source or unit have a number of tokens together: in keyed order, and a few that fit."""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

HASHED = np.dtype([("hash", "<u8"), ("tokens", "<u4")])
"""Keyed hash of 63 bits, and tokens of a document."""
_BUCKETS = 1 << 16
_BLOCK = 1 << 20
_LOOKED_AT = 1 << 12
"""Documents that are examined to come closer to a target than the next one by hash."""
_RANGE_BITS = np.uint64(47)


def mapped(file: BinaryIO) -> NDArray[np.void]:
    """Returns the documents in a temporary file."""
    file.flush()
    return np.memmap(file, HASHED, "r")


def chosen(table: NDArray[np.void], wanted: int) -> tuple[int, list[int], int]:
    """Returns which documents of a table have about `wanted` tokens together, and how many these are.

    Documents are taken in the order of their hashes up to the first that no longer fits: its hash is the threshold. Of
    the next ones those are taken that still fit, and at last the smallest of the others if that comes closer; their
    hashes are returned. The hashes are counted in ranges first; only those of the ranges that are looked at are sorted.
    """
    tokens, documents = np.zeros(_BUCKETS, np.int64), np.zeros(_BUCKETS, np.int64)
    for block in _blocks(table):
        numbers = (block["hash"] >> _RANGE_BITS).astype(np.int64)
        np.add.at(tokens, numbers, block["tokens"].astype(np.int64))
        documents += np.bincount(numbers, minlength=_BUCKETS)
    first = min(int(np.searchsorted(np.cumsum(tokens), wanted, side="right")), _BUCKETS - 1)
    end = int(np.searchsorted(np.cumsum(documents), int(documents[:first].sum()) + _LOOKED_AT)) + 1
    reached = int(tokens[:first].sum())
    threshold, others = -1, []
    smallest = (2 * wanted, -1)  # A larger one comes no closer.
    for hash_, size in _sorted(table, first, end):
        if reached + size <= wanted:
            reached += size
            if threshold >= 0:
                others.append(hash_)
            continue
        smallest = min(smallest, (size, hash_))
        threshold = hash_ if threshold < 0 else threshold
    size, hash_ = smallest
    if hash_ >= 0 and reached + size - wanted < wanted - reached:
        others.append(hash_)
        reached += size
    return threshold if threshold >= 0 else min(end, _BUCKETS) << int(_RANGE_BITS), others, reached


def _sorted(table: NDArray[np.void], first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the hashes in some ranges in order, and the tokens of the documents with each."""
    rows = np.sort(np.concatenate([_of_ranges(block, first, end) for block in _blocks(table)]), order="hash")
    hashes, starts = np.unique(rows["hash"], return_index=True)
    sums = np.add.reduceat(rows["tokens"].astype(np.int64), starts) if len(rows) else np.empty(0, np.int64)
    return zip(hashes.tolist(), sums.tolist(), strict=True)


def _blocks(table: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    return (table[start : start + _BLOCK] for start in range(0, len(table), _BLOCK))


def _of_ranges(block: NDArray[np.void], first: int, end: int) -> NDArray[np.void]:
    """Returns the rows of a block whose hashes are in the ranges from the first to before the end."""
    numbers = block["hash"] >> _RANGE_BITS
    return np.array(block[(numbers >= np.uint64(first)) & (numbers < np.uint64(end))])
