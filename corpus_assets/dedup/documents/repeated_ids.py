"""How many documents of a source have the id of a document in another of its files."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from resources.hashing import keyed_hashes
from resources.spill import Buckets, Spill
from resources.stage.partition import Partition

REPEATED_IDS: Final = "ids_in_other_files"
"""Statistic: by source the number of documents, and how many of them have the id of one in an earlier file."""

_SHARE: Final = 8
"""Copies of a bucket's hashes that are in memory at once, and more."""


def repeated_ids(documents: Sequence[Partition], memory: int, spill: Spill) -> dict[str, dict[str, int]]:
    """Returns for each source with such ids its documents, and how many of them repeat an id of an earlier file.

    Ids are compared by hashes of 64 bits: among 100 million different ids none is expected to be taken for another. An
    id that repeats within a file counts once for each other file. Memory: `memory` bytes, and the hashes of one file.
    """
    by_source: dict[str, list[Partition]] = {}
    for partition in documents:
        assert partition.shard is not None, "documents lie in partitions of raw files"
        by_source.setdefault(partition.shard.source, []).append(partition)
    found = {}
    for source, files in by_source.items():
        rows = sum(len(file.array(".texts.npy")) for file in files)
        if repeated := _between(files, rows, memory, spill):
            found[source] = {"documents": rows, "repeated": repeated}
    return found


def _between(files: Sequence[Partition], rows: int, memory: int, spill: Spill) -> int:
    """Returns how many different ids of files are in an earlier file too."""
    if len(files) < 2:
        return 0
    count = min(max(rows * 8 * _SHARE // max(memory, 1), 1), 1 << 16)
    ids = distinct = 0
    with Buckets(count, np.uint64, memory // 2, spill) as buckets:
        for file in files:
            hashes = np.unique(_hashes(file))
            ids += len(hashes)
            buckets.append(((hashes >> np.uint64(48)) * np.uint64(count) >> np.uint64(16)).astype(np.int64), hashes)
        for number in range(count):
            distinct += len(np.unique(np.concatenate([np.empty(0, np.uint64), *buckets.rows(number)])))
    return ids - distinct


def _hashes(file: Partition) -> NDArray[np.uint64]:
    ends, characters = file.array(".texts.npy")["id_end"].tolist(), file.array(".ids.npy")
    view: Any = characters.data
    starts = [0, *ends[:-1]]
    ids = (view[start:end] for start, end in zip(starts, ends, strict=True))
    return np.fromiter(keyed_hashes("id", 0, ids), dtype=np.uint64, count=len(ends))
