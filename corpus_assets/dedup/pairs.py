"""Duplicate pairs of one band: documents with equal keys, paired by external bucketing in bounded memory.

A bucket of n documents gives n - 1 edges, a star from its lowest document number: the same connected
components as all n * (n - 1) / 2 pairs (specs/slimpajama.md section 5).
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.bands import NO_KEY
from resources.errors import CorpusError

MAX_DOCUMENTS = 2**32 - 1
_RECORD = np.dtype([("key", "<u8"), ("document", "<u4")])
_WORKING_BYTES_PER_ROW = 96
_BLOCK_ROWS = 1 << 18
_KEY_BITS = 64
_SPLIT_BITS = 6
_SPLIT_BUCKETS = 1 << _SPLIT_BITS

Records = NDArray[np.void]
Edges = NDArray[np.uint32]


class TooManyDocumentsError(CorpusError):
    """The corpus holds more documents than 32-bit document numbers can name."""


def star_pairs(shards: Iterable[NDArray[np.uint64]], *, memory: int, spill: Callable[[], BinaryIO]) -> Iterator[Edges]:
    """Edges (m, 2) of [first document, later document] between documents with equal keys in one band.

    `shards` are the keys of one shard's rows each, in canonical order; rows are numbered through all of them
    from 0. `NO_KEY` rows count but never pair. The edges, concatenated, are ordered by key, then later
    document, and do not depend on `memory` (working set in bytes) or on how the rows are cut into shards.

    A band too large for `memory` is split by the leading bits of its keys into files from `spill`: empty,
    binary, open for reading and writing; closed here, so temporary files then vanish. `TooManyDocumentsError`
    beyond 2^32 - 1 rows.
    """
    limit = max(memory // _WORKING_BYTES_PER_ROW, 1)
    yield from _stars(_records(shards, min(limit, _BLOCK_ROWS)), limit, 0, 2**_KEY_BITS - 1, spill)


def _records(shards: Iterable[NDArray[np.uint64]], block_rows: int) -> Iterator[Records]:
    """Blocks of numbered keys, none empty, in document order, without the rows that take no part."""
    first = 0
    for shard in shards:
        if first + len(shard) > MAX_DOCUMENTS:
            raise TooManyDocumentsError(
                f"{first + len(shard)} documents or more; at most {MAX_DOCUMENTS} can be numbered"
            )
        for start in range(0, len(shard), block_rows):
            keys = np.asarray(shard[start : start + block_rows])
            rows = np.flatnonzero(keys != NO_KEY)
            if not len(rows):
                continue
            block = np.empty(len(rows), dtype=_RECORD)
            block["key"] = keys[rows]
            block["document"] = rows + (first + start)
            yield block
        first += len(shard)


def _stars(
    blocks: Iterator[Records], limit: int, low: int, high: int, spill: Callable[[], BinaryIO]
) -> Iterator[Edges]:
    """Edges of blocks in document order whose keys lie between `low` and `high`, both included."""
    if low == high:
        yield from _star_of_one_key(blocks)
        return
    held: deque[Records] = deque()
    rows = 0
    for block in blocks:
        held.append(block)
        rows += len(block)
        if rows > limit:
            yield from _split(chain(_drain(held), blocks), limit, low, high, spill)
            return
    if rows:
        yield _stars_in_memory(np.concatenate(held))


def _stars_in_memory(records: Records) -> Edges:
    """Edges of at least one record; records come in document order."""
    order = np.argsort(records["key"], kind="stable")
    keys, documents = records["key"][order], records["document"][order]
    leads = np.ones(len(records), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=leads[1:])
    sizes = np.diff(np.flatnonzero(leads), append=len(records))
    return np.stack([np.repeat(documents[leads], sizes - 1), documents[~leads]], axis=1)


def _star_of_one_key(blocks: Iterator[Records]) -> Iterator[Edges]:
    """Edges of a single bucket of any size, in constant memory."""
    first: np.uint32 | None = None
    for block in blocks:
        documents = block["document"]
        if first is None:
            first, documents = documents[0], documents[1:]
        yield np.stack([np.full_like(documents, first), documents], axis=1)


def _drain(held: deque[Records]) -> Iterator[Records]:
    """The blocks in order, each let go as soon as it is handed out."""
    while held:
        yield held.popleft()


@dataclass
class _Bucket:
    """Records on file, in document order, and the range of their keys."""

    file: BinaryIO
    low: int = 2**_KEY_BITS - 1
    high: int = 0

    def append(self, records: Records) -> None:
        self.file.write(records.tobytes())
        self.low = min(self.low, int(records["key"].min()))
        self.high = max(self.high, int(records["key"].max()))

    def blocks(self, rows: int) -> Iterator[Records]:
        self.file.seek(0)
        while raw := self.file.read(rows * _RECORD.itemsize):
            yield np.frombuffer(raw, dtype=_RECORD)


def _split(
    blocks: Iterator[Records], limit: int, low: int, high: int, spill: Callable[[], BinaryIO]
) -> Iterator[Edges]:
    """Edges by way of files, one per value of the leading bits in which the keys can still differ."""
    shift = np.uint64(max((low ^ high).bit_length() - _SPLIT_BITS, 0))
    buckets: dict[int, _Bucket] = {}
    with ExitStack() as files:
        for block in blocks:
            numbers = (block["key"] >> shift).astype(np.uint8) % _SPLIT_BUCKETS
            order = np.argsort(numbers, kind="stable")
            present, starts = np.unique(numbers[order], return_index=True)
            for number, part in zip(present.tolist(), np.split(block[order], starts[1:]), strict=True):
                if number not in buckets:
                    buckets[number] = _Bucket(files.enter_context(spill()))
                buckets[number].append(part)
        for _, bucket in sorted(buckets.items()):
            rows = bucket.blocks(min(limit, _BLOCK_ROWS))
            yield from _stars(rows, limit, bucket.low, bucket.high, spill)
            bucket.file.close()
