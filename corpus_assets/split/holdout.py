"""Chooses the held-out documents by content hash, per source, before any repetition."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from resources.hashing import hash_parts, keyed_hash, keyed_hasher

ALL = 2**64
_BLOCK = 1 << 16


def share_threshold(share: float) -> int:
    """Returns the threshold below which a uniform 64-bit hash falls with probability `share`."""
    return round(share * ALL)


def count_threshold(hashes: Iterable[int], count: int) -> int:
    """Returns the threshold above exactly the `count` smallest hashes (fewer if there are fewer documents).

    Equal hashes (equal texts of one source) stay together. Memory as of `smallest`.
    """
    found = smallest(hashes, count)
    return int(found[-1]) + 1 if len(found) else 0


def smallest(hashes: Iterable[int], count: int) -> NDArray[np.uint64]:
    """Returns the `count` smallest different hashes, ascending; all if there are fewer.

    Memory is a few times `count` numbers, however many hashes there are.
    """
    held, below = np.empty(0, dtype=np.uint64), ALL
    if not count:
        return held
    size = min(max(count, _BLOCK), sys.maxsize)
    wanted = (found for found in hashes if found < below)
    while len(more := np.fromiter(islice(wanted, size), dtype=np.uint64)):
        held = np.unique(np.concatenate([held, more]))[:count]
        if len(held) == count:
            below = int(held[-1])
    return held


def holdout_hash(seed: int, source: str, digest: bytes) -> int:
    """Returns the hash that decides on a text: uniform, and the same for equal texts of one source in any corpus."""
    return keyed_hash("holdout", seed, source, digest)


def held_out(
    sources: Sequence[str], digests: Sequence[bytes], seed: int, thresholds: Mapping[str, int]
) -> NDArray[np.bool_]:
    """Returns for each row whether its text belongs to the holdout; shape (rows,)."""
    hashers = {source: keyed_hasher("holdout", seed, source) for source in set(sources)}
    pairs = zip(sources, digests, strict=True)
    flags = (hashers[source](hash_parts(digest)) < thresholds.get(source, 0) for source, digest in pairs)
    return np.fromiter(flags, dtype=np.bool_, count=len(sources))


def leading(rows: int, share: float) -> NDArray[np.bool_]:
    """Returns SlimPajama's holdout: the first `int(rows * share)` rows of the shuffled chunk.

    Rule: docs/formats/slimpajama.md "Pass 2".
    """
    flags = np.zeros(rows, dtype=np.bool_)
    flags[: int(rows * share)] = True
    return flags


def is_validation(sources: Sequence[str], digests: Sequence[bytes], seed: int, share: float) -> NDArray[np.bool_]:
    """Returns for each held-out row whether it belongs to validation (the others are test); shape (rows,)."""
    limit = share_threshold(share)
    pairs = zip(sources, digests, strict=True)
    flags = (keyed_hash("validation", seed, source, digest) < limit for source, digest in pairs)
    return np.fromiter(flags, dtype=np.bool_, count=len(sources))
