"""The hashes of a shard by range, and which of them repeat earlier ones of the shard; on disk if memory is short."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.dedupers.first_seen import Hashes, SeenHashes
from resources.spill import Buckets, Spill

RANGES = 1 << 12
"""Number of equal ranges of the first word of a hash; reads of a shard begin and end at range boundaries."""

BYTES_PER_HASH = 256
"""Most bytes of memory for one hash while it is compared."""

_RANGE_SHIFT = np.uint64(64 - 12)
_BUCKETS = 1 << 10
_BUCKET_SHIFT = np.uint64(64 - 10)
_ROW = np.dtype([("hash", "<u8", (2,)), ("place", "<u8")])

Placed = tuple[Hashes, NDArray[np.uint64]]
"""Hashes (n, 2), and the place of each among all hashes of the shard (n,)."""


def range_starts(hashes: Hashes) -> NDArray[np.int64]:
    """Returns where each range begins among hashes (n, 2) that are sorted by their first word (RANGES + 1,)."""
    return np.searchsorted(hashes[:, 0] >> _RANGE_SHIFT, np.arange(RANGES + 1, dtype=np.uint64))


class Distinct:
    """Collects the hashes of a shard in their order, then yields the different ones.

    memory: bytes of working set.
    every: True to yield all copies of a hash; none then counts as a repetition.
    again: a bit for each hash (as in `numpy.packbits`), 1 if it occurred earlier in the shard; complete after `blocks`.
    starts: where each range begins among the yielded hashes (RANGES + 1,).
    """

    def __init__(self, memory: int, spill: Spill, *, every: bool = False) -> None:
        self._memory = memory
        self._spill = spill
        self._every = every
        self._limit = max(memory // 2 // BYTES_PER_HASH, 1)
        self._held: list[Placed] = []
        self._held_rows = 0
        self._buckets: Buckets | None = None
        self.total = 0
        self.again = np.empty(0, dtype=np.uint8)
        self.starts = np.zeros(RANGES + 1, dtype=np.int64)

    def __enter__(self) -> "Distinct":
        return self

    def __exit__(self, *error: object) -> None:
        if self._buckets is not None:
            self._buckets.__exit__(None, None, None)

    def add(self, hashes: Hashes) -> None:
        """Appends hashes (n, 2)."""
        places = np.arange(self.total, self.total + len(hashes), dtype=np.uint64)
        self._held.append((hashes, places))
        self._held_rows += len(hashes)
        self.total += len(hashes)
        if self._held_rows > self._limit:
            self._to_buckets()

    def _to_buckets(self) -> Buckets:
        """Moves held hashes to the buckets, which go to a file when they grow large."""
        if self._buckets is None:
            self._buckets = Buckets(_BUCKETS, _ROW, self._memory // 4, self._spill)
        for hashes, places in self._held:
            rows = np.empty(len(hashes), dtype=_ROW)
            rows["hash"], rows["place"] = hashes, places
            self._buckets.append(hashes[:, 0] >> _BUCKET_SHIFT, rows)
        self._held, self._held_rows = [], 0
        return self._buckets

    def blocks(self) -> Iterator[Placed]:
        """Yields the different hashes by their first word, each with the place of its first copy in the shard.

        With `every`, all hashes, range by range, those of a range in the order of their places.
        """
        self.again = np.zeros(-(-self.total // 8), dtype=np.uint8)
        for hashes, places in self._all_copies() if self._every else self._first_copies():
            self.starts += range_starts(hashes)
            yield hashes, places

    def _first_copies(self) -> Iterator[Placed]:
        for group in self._groups():
            hashes, places = self._different(group)
            order = np.argsort(hashes[:, 0], kind="stable")
            yield hashes[order], places[order]

    def _all_copies(self) -> Iterator[Placed]:
        if self._buckets is None:
            hashes, places = _together(self._held)
            order = np.argsort(hashes[:, 0] >> _RANGE_SHIFT, kind="stable")
            yield hashes[order], places[order]
            return
        buckets = self._to_buckets()
        for number in range(RANGES):  # Read once for each of its ranges: a bucket may be one repeated hash.
            for hashes, places in _rows(buckets, [number // (RANGES // _BUCKETS)]):
                chosen = hashes[:, 0] >> _RANGE_SHIFT == number
                yield hashes[chosen], places[chosen]

    def _different(self, group: Iterable[Placed]) -> Placed:
        """Returns the first copies of a group in their order, and marks the others."""
        from corpus_assets.attributes.dedupers.kernels.seen import set_bits

        seen = SeenHashes()
        kept: list[Placed] = []
        for hashes, places in group:
            known = seen.mark(hashes)
            set_bits(self.again, places[known].astype(np.int64))
            kept.append((hashes[~known], places[~known]))
        return _together(kept)

    def _groups(self) -> Iterator[Iterable[Placed]]:
        """Yields the hashes to compare together: all, or those of as many buckets as fit in memory, at least one."""
        if self._buckets is None:
            yield self._held
            return
        buckets = self._to_buckets()
        first = held = 0
        for number in range(_BUCKETS):
            size = buckets.size(number)
            if number > first and held + size > self._limit:
                yield _rows(buckets, range(first, number))
                first, held = number, 0
            held += size
        yield _rows(buckets, range(first, _BUCKETS))


def _together(found: Iterable[Placed]) -> Placed:
    parts = [(np.empty((0, 2), dtype=np.uint64), np.empty(0, dtype=np.uint64)), *found]
    return np.concatenate([hashes for hashes, _ in parts]), np.concatenate([places for _, places in parts])


def _rows(buckets: Buckets, numbers: Iterable[int]) -> Iterator[Placed]:
    for number in numbers:
        for rows in buckets.rows(number):
            yield np.ascontiguousarray(rows["hash"]), np.ascontiguousarray(rows["place"])
