"""Ids of one range of hashes that several files of a source have."""

import numpy as np

from corpus_assets.dedup.by_range.stored import ID, IDS, count_of, rows_of
from corpus_assets.dedup.documents.numbering import Numbering
from resources.spill import Buckets
from resources.stage.task import Task

_SHARE = 16
"""Rows of a bucket are copied as they are sorted."""


def repeated_in_range(task: Task, numbering: Numbering) -> dict[str, int]:
    """Returns for each source with such ids how many of the range are in an earlier file too.

    An id that repeats within a file counts once for each other file. Ids are compared by hashes of 64 bits.
    """
    members = task.inputs("cluster_members")
    names = list(dict.fromkeys(numbering.sources))
    of_shard = np.array([names.index(source) for source in numbering.sources], np.int64)
    times = np.zeros(len(names), np.int64)
    rows = count_of(members, IDS, task.key)
    count = min(max(rows * ID.itemsize * _SHARE // max(task.memory, 1), 1), 1 << 16)
    with Buckets(count, ID, task.memory // 8, task.scratch) as buckets:
        for block in rows_of(members, IDS, task.key, ID):
            # The highest bits say the range, so others spread the hashes.
            buckets.append((block["hash"] % np.uint64(count)).astype(np.int64), block)
        for number in range(count):
            ids = np.concatenate([np.empty(0, ID), *buckets.rows(number)])
            sources = of_shard[ids["shard"]]
            order = np.lexsort((ids["shard"], sources, ids["hash"]))
            hashes, shards, sources = ids["hash"][order], ids["shard"][order], sources[order]
            again = (hashes[1:] == hashes[:-1]) & (sources[1:] == sources[:-1]) & (shards[1:] != shards[:-1])
            times += np.bincount(sources[1:][again], minlength=len(names))
    return {name: count for name, count in zip(names, times.tolist(), strict=True) if count}
