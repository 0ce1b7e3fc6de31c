"""Finds the rows of train whose text is in the holdout. Memory is bounded by one chunk of train."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

_BLOCK = 1 << 18


def unique_digests(blocks: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Returns the sorted distinct SHA-256 digests of all blocks, shape (n, 32)."""
    held = [np.unique(np.ascontiguousarray(block).view("V32").ravel()) for block in blocks if len(block)]
    if not held:
        return np.empty((0, 32), dtype=np.uint8)
    return np.unique(np.concatenate(held)).view(np.uint8).reshape(-1, 32)


def contaminated(digests: Sequence[bytes], holdout: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Returns for each train row whether its text is in the holdout, by SHA-256 of the exact text.

    holdout: sorted digests, (n, 32); they are read once, block by block.
    Rule: docs/formats/slimpajama.md "Train against holdout".
    """
    rows = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
    order = np.argsort(_heads(rows), kind="stable")
    heads = _heads(rows)[order]
    found = np.zeros(len(rows), np.bool_)
    for start in range(0, len(holdout), _BLOCK):
        block = np.ascontiguousarray(holdout[start : start + _BLOCK])
        known = _heads(block)
        first, last = np.searchsorted(heads, known[0]), np.searchsorted(heads, known[-1], side="right")
        asked = order[first:last]
        found[asked] |= _are_in(rows[asked], block, known)
    return found


def _heads(digests: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Returns the first 8 bytes of each digest as a number, in the order of the digests."""
    return np.ascontiguousarray(digests[:, :8]).view(">u8").ravel().astype(np.uint64)


def _are_in(rows: NDArray[np.uint8], block: NDArray[np.uint8], heads: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Returns which digests are in a sorted block of others. heads: those of the block."""
    wanted = _heads(rows)
    place, end = np.searchsorted(heads, wanted), np.searchsorted(heads, wanted, side="right")
    found = np.zeros(len(rows), np.bool_)
    while (left := np.flatnonzero(place < end)).size:
        found[left] |= (block[place[left]] == rows[left]).all(axis=1)
        place[left] += 1
    return found
