"""The different hashes of a shard, sorted, and which of all its hashes came before in it; beyond memory on disk."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.dedupers.first_seen import Hashes, SeenHashes
from resources.spill import Buckets, Spill

RANGES = 1 << 12
"""Ranges of equal width of the first word of a hash: what is read of a shard begins and ends with one."""

BYTES_PER_HASH = 256
"""Memory that one hash takes while it is compared, at most."""

_SHIFT = np.uint64(52)
_ROW = np.dtype([("hash", "<u8", (2,)), ("place", "<u8")])


class Distinct:
    """Collects the hashes of a shard in their order, then gives the different ones.

    memory: bytes of working set. again: bit for each hash (as `numpy.packbits` has them), 1 if it came before in the
    shard; complete when `blocks` is. starts: where each range begins among the different hashes (RANGES + 1,).
    """

    def __init__(self, memory: int, spill: Spill) -> None:
        self._limit = max(memory // 2 // BYTES_PER_HASH, 1 << 10)
        self._buckets = Buckets(RANGES, _ROW, memory // 4, spill)
        self.total = 0
        self.again = np.empty(0, dtype=np.uint8)
        self.starts = np.zeros(RANGES + 1, dtype=np.uint64)

    def __enter__(self) -> "Distinct":
        return self

    def __exit__(self, *error: object) -> None:
        self._buckets.__exit__(None, None, None)

    def add(self, hashes: Hashes) -> None:
        """Adds hashes (n, 2) behind those that were added before."""
        rows = np.empty(len(hashes), dtype=_ROW)
        rows["hash"] = hashes
        rows["place"] = np.arange(self.total, self.total + len(hashes), dtype=np.uint64)
        self._buckets.append(hashes[:, 0] >> _SHIFT, rows)
        self.total += len(hashes)

    def blocks(self) -> Iterator[tuple[Hashes, NDArray[np.uint64]]]:
        """Yields the different hashes (n, 2) by their first word, and the place of the first of each in the shard."""
        from corpus_assets.attributes.dedupers.kernels.seen import set_bits

        self.again = np.zeros(-(-self.total // 8), dtype=np.uint8)
        for group in self._groups():
            seen = SeenHashes()
            kept = [np.empty(0, dtype=_ROW)]
            for number in group:
                for rows in self._buckets.rows(number):
                    known = seen.mark(np.ascontiguousarray(rows["hash"]))
                    set_bits(self.again, rows["place"][known].astype(np.int64))
                    kept.append(rows[~known])
            found = np.concatenate(kept)
            found = found[np.argsort(found["hash"][:, 0], kind="stable")]
            sizes = np.bincount((found["hash"][:, 0] >> _SHIFT).astype(np.int64), minlength=RANGES)
            self.starts[1:] += np.cumsum(sizes, dtype=np.uint64)
            yield np.ascontiguousarray(found["hash"]), np.ascontiguousarray(found["place"])

    def _groups(self) -> Iterator[range]:
        """Yields the ranges that are compared together: as many as have no more hashes than fit, or one."""
        first = held = 0
        for number in range(RANGES):
            size = self._buckets.size(number)
            if number > first and held + size > self._limit:
                yield range(first, number)
                first, held = number, 0
            held += size
        yield range(first, RANGES)
