"""Finds and reads the documents of one chunk in the files of pass 1 of all shards."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from resources.errors import LedgerError
from resources.formats.row_tables import ROW, RowTable
from resources.formats.segments import Segment
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.small_arrays import small_arrays
from resources.stage.soundness import SMALL

_INDEX, _ROWS, _LINES = ".index.json", ".rows.npy", ".jsonl.zst"
_LINES_SHARE, _INDEX_SHARE = 16, 64
"""Shares of a job's memory. A parsed index takes about twice the bytes of its file."""

Index = Mapping[str, Segment]


class Cuts(NamedTuple):
    """One chunk in all shards.

    segments: its lines in each shard. starts, rows: its first row and number of rows in the row table of each shard,
    both of shape (shards,).
    """

    segments: list[Segment]
    starts: NDArray[np.int64]
    rows: NDArray[np.int64]


def cuts_of(shards: Partitions, chunk: str, memory: int) -> Cuts:
    """Returns the place of a chunk in the files of each shard. memory: bytes that the job may use."""
    kept = shards.once(_small_indexes, memory // _INDEX_SHARE)
    segments, starts = [], []
    for shard, index in zip(shards, kept, strict=True):
        start, segment = _cut(shard, index or shard.segments(), chunk)
        segments.append(segment)
        starts.append(start)
    rows = [segment.rows for segment in segments]
    return Cuts(segments, np.array(starts, dtype=np.int64), np.array(rows, dtype=np.int64))


def _cut(shard: Partition, index: Index, chunk: str) -> tuple[int, Segment]:
    """Returns the number of the first row of a chunk in a shard's row table, and the chunk's segment of the shard."""
    start = 0
    for name, segment in index.items():
        if name == chunk:
            return start, segment
        start += segment.rows
    raise LedgerError(f"{shard.name} has no segment {chunk!r}; its segments are: {', '.join(index) or 'none'}")


def rows_of(shards: Partitions, chunk: str, cuts: Cuts, memory: int) -> RowTable:
    """Returns the rows of a chunk in the row tables of all shards, in their order."""
    found = [np.empty(0, ROW)]
    for run in small_arrays(shards, _ROWS, ROW, memory):
        starts = cuts.starts[run.partitions]
        stops = starts + cuts.rows[run.partitions]
        if run.rows is None:
            before = [lines_part(cuts.segments[run.first])]
            place = int(starts[0]), int(stops[0])
            found += shards[run.first].segment_blocks(_ROWS, chunk, ROW, *place, before=before)
        else:
            found.append(run.rows[run.places(starts, stops)])
    return np.concatenate(found, dtype=ROW)


def lines_part(cut: Segment) -> bytes:
    """Returns the first part of the content that a chunk's digest covers; the second is its rows."""
    return cut.digest.encode()


def lines_of(shards: Partitions, cuts: Cuts, memory: int) -> Iterator[bytes]:
    """Yields the lines of a chunk, shard by shard."""
    kept = shards.once(_small_lines, memory // _LINES_SHARE)
    for shard, segment, held in zip(shards, cuts.segments, kept, strict=True):
        yield from shard.segment_lines(segment, _LINES, held=held)


def _small_indexes(shards: Partitions, room: int) -> list[Index | None]:
    """Returns the index of each shard; None for large ones, and for those without room."""
    return [shard.segments(_INDEX) if fits else None for shard, fits in _fitting(shards, _INDEX, room)]


def _small_lines(shards: Partitions, room: int) -> list[bytes | None]:
    """Returns the files of lines, of which each chunk is checked later. None for large ones or without room."""
    return [shard.unchecked(_LINES) if fits else None for shard, fits in _fitting(shards, _LINES, room)]


def _fitting(shards: Partitions, suffix: str, room: int) -> Iterator[tuple[Partition, bool]]:
    """Yields each shard, and whether its file is small and fits into `room` bytes with earlier fitting ones."""
    for shard in shards:
        size = shard.file(suffix).bytes
        fits = size <= min(SMALL, room)
        room -= size if fits else 0
        yield shard, fits
