"""The asset `containment_candidates`: which larger documents have shingles of a document, by range of hash."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.containment.holders import Holders, holder_rows, numbered, seen_rows
from corpus_assets.dedup.containment.samples import sample_rows
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.shared import (
    blocks_of,
    range_number,
    ranges_of,
    require_numbering,
    rows_of_range,
    save_by_range,
    save_numbering,
    spans_of,
    stored_numbering,
)
from corpus_assets.dedup.similarity.jaccard import marked, wanted
from resources.errors import LedgerError
from resources.spill import Buckets
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Task

_HALF = 32


def containment_candidates(task: Task) -> None:
    """Writes for a range of hashes which larger documents each document sees, by range of the smaller document."""
    shards, exact = task.inputs("shingle_samples"), task.inputs("exact_duplicates")
    numbering = stored_numbering(exact[0])
    require_numbering(numbering, exact, ".shards.json")
    if [shard.key for shard in shards] != list(numbering.shards):
        raise LedgerError("exact duplicates were found in other shards than the present ones; run `corpus build`")
    count, number = task["dedup.ranges"], range_number(task.key)
    span = -(-(number << _HALF) // count), -(-((number + 1) << _HALF) // count)
    rows, quarter = rows_of_range(shards, task.key), task.memory // 4
    kind, seen = holder_rows(numbering.dtype), seen_rows(numbering.dtype)
    ranges = ranges_of(task, numbering)
    with (
        Holders(rows, span, kind, quarter, task.scratch) as holders,
        Buckets(ranges.count, seen, quarter, task.scratch) as by_range,
    ):
        for block in _holders(task, shards, numbering, exact):
            holders.add(block)
        for block in holders.seen():
            by_range.append(ranges.of(block["pair"][:, 0]), block)
        found = save_by_range(task, f"containment_candidates/{task.key}.npy", by_range, seen)
    save_numbering(task, f"containment_candidates/{task.key}.shards.json", numbering)
    task.count(rows_in=rows, rows_out=found)


def _holders(
    task: Task, shards: Partitions, numbering: Numbering, exact: Sequence[Partition]
) -> Iterator[NDArray[np.void]]:
    """Yields the sampled shingles of a range, without those of later copies of a text."""
    kind = holder_rows(numbering.dtype)
    copies = wanted((block[:, 1:] for found in exact for block in blocks_of(found.array(".npy"))), numbering.total)
    for shard, (first, after), (start, stop) in zip(
        shards, pairwise(numbering.starts), spans_of(shards, task.key).tolist(), strict=True
    ):
        row = sample_rows(after - first)
        for block in shard.segment_blocks(".npy", task.key, row, start, stop) if stop > start else ():
            rows = numbered(block, first, kind)
            yield rows[~marked(copies, rows["document"])]
