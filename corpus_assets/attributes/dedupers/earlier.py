"""The asset `<name>_seen`: which hashes of each shard also occur in an earlier shard, or in certain sources."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from io import BufferedIOBase
from typing import cast

import numpy as np
import xxhash
from numpy.typing import NDArray

from corpus_assets.attributes.dedupers.distinct import BYTES_PER_HASH, RANGES, range_starts
from corpus_assets.attributes.dedupers.first_seen import Hashes, SeenHashes, SeenInFilter
from corpus_assets.config.selection.dedupers import Deduper
from resources.errors import LedgerError
from resources.stage.partition import Partition
from resources.stage.partitions import in_order_of_paths
from resources.stage.task import Task

Flags = NDArray[np.bool_]
_BLOCK = 1 << 20
assert _BLOCK % 8 == 0


def seen(task: Task, rule: Deduper) -> None:
    """Writes for each hash of each shard whether an earlier shard has it: bits, shard by shard.

    With `against`, whether any shard of those sources has it, in whatever order. The bits of each shard are a separate
    segment, so that a shard with unchanged bits does not depend on the others.
    """
    given = task.inputs(f"{rule.name}_hashes")
    shards = in_order_of_paths(given) if rule.compat else given
    rows = [shard.file(".hashes.npy").rows or 0 for shard in shards]
    flags = _by_filter(shards, rows, rule) if rule.bloom else _exactly(task, shards, rows, rule.against)
    total = 0
    with task.array(f"dedupers/{rule.name}/seen.npy", np.uint8) as out:
        for shard, blocks in zip(shards, flags, strict=True):
            hasher, found = xxhash.xxh3_128(), 0
            for block in blocks:
                bits = np.packbits(block)
                out.append(bits)
                hasher.update(bits.tobytes())
                found += int(block.sum())
            if found:
                task.segments[shard.key or ""] = hasher.hexdigest()
            total += found
    table = [{"shard": shard.key, "hashes": count} for shard, count in zip(shards, rows, strict=True)]
    task.save_json(f"dedupers/{rule.name}/shards.json", table, rows=len(shards))
    task.count(rows_in=sum(rows), rows_out=sum(rows), seen=total)
    if rule.bloom:
        task.count(filter=rule.bloom.described(rule.name))


def _by_filter(shards: Sequence[Partition], rows: Sequence[int], rule: Deduper) -> Iterator[Iterator[Flags]]:
    """Yields the flags of each shard: one pass over all of them in their order."""
    assert rule.bloom is not None
    known = SeenInFilter(rule.name, rule.bloom)
    for shard, count in zip(shards, rows, strict=True):
        yield (
            known.mark(shard.array_rows(".hashes.npy", start, min(start + _BLOCK, count)))
            for start in range(0, count, _BLOCK)
        )


def _exactly(
    task: Task, shards: Sequence[Partition], rows: Sequence[int], against: Collection[str] | None
) -> Iterator[Iterator[Flags]]:
    """Yields the flags of each shard, computed range by range of the hashes over all shards.

    against: the only sources to compare with; None for earlier shards.
    """
    block = min(_BLOCK, max(8, task.memory // 8 // 32 // 8 * 8))
    offsets = np.concatenate([[0], np.cumsum(np.array(rows, dtype=np.int64))]).tolist()
    with task.scratch() as opened:
        file = cast(BufferedIOBase, opened)
        for first, last in _ranges(shards, rows, max(task.memory // 2 // BYTES_PER_HASH, 1)):
            known = SeenHashes()
            for shard, count in zip(shards, rows, strict=True):
                if against is not None and shard.shard is not None and shard.shard.source in against:
                    for _, hashes in _between(shard, _bounds(shard, count, first, last), block):
                        known.mark(hashes)
            look_up = known.mark if against is None else known.holds
            for shard, count, offset in zip(shards, rows, offsets, strict=False):
                for place, hashes in _between(shard, _bounds(shard, count, first, last), block):
                    file.seek(offset + place)
                    file.write(look_up(hashes).view(np.uint8).data)
        for count, offset in zip(rows, offsets, strict=False):
            yield map(partial(_read, file, offset, count, block), range(0, count, block))


def _between(shard: Partition, bounds: tuple[int, int], block: int) -> Iterator[tuple[int, Hashes]]:
    """Yields the hashes of some rows of a shard in blocks, each with its first row."""
    start, end = bounds
    for place in range(start, end, block):
        yield place, shard.array_rows(".hashes.npy", place, min(place + block, end))


def _read(file: BufferedIOBase, offset: int, count: int, block: int, start: int) -> Flags:
    file.seek(offset + start)
    return np.frombuffer(file.read(min(block, count - start)), dtype=np.bool_)


def _ranges(shards: Sequence[Partition], rows: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    """Yields (first, last) ranges of hashes to compare together: all, or as many as fit."""
    if sum(rows) <= limit:
        yield 0, RANGES
        return
    starts = np.zeros(RANGES + 1, dtype=np.int64)
    for shard, count in zip(shards, rows, strict=True):
        starts += _starts(shard, count)
    first = 0
    while first < RANGES:
        last = int(np.searchsorted(starts, starts[first] + limit, side="right")) - 1
        last = min(max(last, first + 1), RANGES)
        yield first, last
        first = last


def _bounds(shard: Partition, count: int, first: int, last: int) -> tuple[int, int]:
    """Returns the rows of a shard's hashes in some ranges."""
    if (first, last) == (0, RANGES):
        return 0, count
    starts = _starts(shard, count)
    return int(starts[first]), int(starts[last])


def _starts(shard: Partition, count: int) -> NDArray[np.int64]:
    """Returns where each range begins among a shard's hashes."""
    if shard.has(".starts.npy"):
        return shard.array(".starts.npy")
    return range_starts(shard.array_rows(".hashes.npy", 0, count))


def seen_in(whole: Partition, hashes: Partition) -> NDArray[np.bool_]:
    """Returns which hashes of a shard occur in an earlier shard (n,); `LedgerError` if others were compared."""
    start = 0
    for row in whole.json("shards.json"):
        if row["shard"] == hashes.key:
            count = hashes.file(".hashes.npy").rows or 0
            if row["hashes"] != count:
                break
            bits = whole.array_rows("seen.npy", start, start + -(-count // 8))
            return np.unpackbits(bits, count=count).view(np.bool_)
        start += -(-row["hashes"] // 8)
    raise LedgerError(f"{whole.name} was made of other hashes than those of {hashes.name}; run `corpus build`")
