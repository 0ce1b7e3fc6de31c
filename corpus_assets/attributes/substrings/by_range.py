"""Contents of each shard by range of their hashes, and what ranges say of those of each shard."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.attributes.substrings.copies import Copies
from resources.errors import LedgerError
from resources.hashing import content_digest, sized_hasher
from resources.spill import Buckets
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.settings import range_key
from resources.stage.task import Task

RANGES = "dedup.ranges"
_CONTENTS = ".contents.npy"
_STARTS = "starts of ranges"
_SHARDS = ".shards.json"


def content_row(words: int, *, counted: bool) -> np.dtype[Any]:
    """Returns the type of a stored content. counted: with the number of documents of the shard that have it."""
    documents = [("documents", "<u4")] if counted else []
    return np.dtype([("hash", "<u8", (words,)), *documents])


def save_contents(task: Task, path: str, copies: Copies, row: np.dtype[Any]) -> int:
    """Writes the different contents of a shard, with a segment for each range; returns their number."""
    names, number = row.names or (), len(copies.starts) - 1
    with Buckets(number, row, task.memory // 4, task.scratch) as by_range:
        seen = copies.starts.copy()
        for found in copies.contents():
            rows = np.empty(len(found), dtype=row)
            for name in names:
                rows[name] = found[name]
            by_range.append(np.repeat(np.arange(number), np.diff(copies.starts - seen)), rows)
            seen = copies.starts.copy()
        with task.array(f"{path}{_CONTENTS}", row) as out:
            for place in range(number):
                hasher = sized_hasher(by_range.size(place) * row.itemsize)
                for rows in by_range.rows(place):
                    out.append(rows)
                    hasher.update(rows.tobytes())
                if by_range.size(place):
                    task.segments[range_key(place)] = hasher.hexdigest()
    task.save_counters(_STARTS, {"starts": copies.starts.tolist()})
    return out.written.rows


def contents_of(shards: Partitions, key: str, row: np.dtype[Any]) -> Iterator[Iterator[NDArray[np.void]]]:
    """Yields for each shard the blocks of its contents in a range."""
    for shard, count, start in zip(shards, rows_of(shards, key), _starts_of(shards, key), strict=True):
        yield shard.segment_blocks(_CONTENTS, key, row, start, start + count) if count else iter(())


def rows_of(shards: Partitions, key: str) -> list[int]:
    """Returns how many contents each shard has in a range."""
    number = _range_number(key)
    found: list[int] = np.diff(shards.once(_all_starts)[:, number : number + 2])[:, 0].tolist()
    return found


def _starts_of(shards: Partitions, key: str) -> list[int]:
    found: list[int] = shards.once(_all_starts)[:, _range_number(key)].tolist()
    return found


def _all_starts(shards: Partitions) -> NDArray[np.int64]:
    starts = [shard.counters(_STARTS)["starts"] for shard in shards]
    return np.array(starts, dtype=np.int64) if starts else np.zeros((0, 2), dtype=np.int64)


def _range_number(key: str) -> int:
    return int(key.removeprefix("range-"))


def save_says(task: Task, path: str, shards: Partitions, says: NDArray[Any]) -> None:
    """Writes what is said of the contents of all shards in a range, with a segment for each shard."""
    with task.array(f"{path}.says.npy", says.dtype) as out:
        out.append(says)
    rows, start = rows_of(shards, task.key), 0
    for shard, count in zip(shards, rows, strict=True):
        if count:
            task.segments[shard.key or ""] = content_digest(says[start : start + count].tobytes())
        start += count
    task.save_json(f"{path}{_SHARDS}", {"shards": [shard.key for shard in shards], "rows": rows}, rows=len(rows))


def said_of(shard: Partition, ranges: Partitions, dtype: DTypeLike) -> NDArray[Any]:
    """Returns what is said of the contents of a shard, in their order.

    `LedgerError` if ranges speak of other contents than those that the shard has.
    """
    starts, found = shard.counters(_STARTS)["starts"], [np.empty(0, dtype=dtype)]
    if len(starts) != len(ranges) + 1:
        raise LedgerError(f"{shard.name} has {len(starts) - 1} ranges, not {len(ranges)}; run `corpus build`")
    for one, places, count in zip(ranges, ranges.once(_places), np.diff(starts).tolist(), strict=True):
        start, rows = places.get(shard.key or "", (0, 0))
        if rows != count:
            raise LedgerError(f"{one.name} was made of other contents than those of {shard.name}; run `corpus build`")
        if count:
            found += one.segment_blocks(".says.npy", shard.key or "", dtype, start, start + rows)
    return np.concatenate(found)


def _places(ranges: Partitions) -> list[dict[str, tuple[int, int]]]:
    return [dict(_places_in(msgspec.json.decode(one.content(_SHARDS)))) for one in ranges]


def _places_in(table: dict[str, list[Any]]) -> Iterable[tuple[str, tuple[int, int]]]:
    start = 0
    for key, rows in zip(table["shards"], table["rows"], strict=True):
        yield key, (start, rows)
        start += rows
