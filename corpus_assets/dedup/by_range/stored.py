"""What the stages by range store for each other: rows of members, and hashes of ids, both by range."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.selection.dedup import Rule
from corpus_assets.dedup.clusters.keep import deciding
from resources.hashing import content_digest, sized_hasher
from resources.spill import Buckets
from resources.stage.partitions import Partitions
from resources.stage.settings import range_key
from resources.stage.task import Task

MEMBERS, PAIRS, IDS = KINDS = ("members", "pairs", "ids")
"""Kinds of rows: members and pairs of clusters by the range of the first document; ids by the range of their hash."""

REPORT, ROWS, HASHES = ".report.json", ".rows.npy", ".hashes.npy"
"""Suffixes of files of `guarded_clusters`: numbers, and what the guard found; rows of (member, kept, size); of each a
hash of the id of the kept document.
"""

FACTS = {"longest": ("bytes", "<i8"), "newest": ("created", "<i8")}
"""For rules that compare a column of the table of texts: its name, and the type in a row."""

ID = np.dtype([("hash", "<u8"), ("shard", "<u4")])
"""The hash of a document's id, and the position of its shard."""


def alone(dtype: np.dtype[Any]) -> int:
    """Returns the root of a document that is in no cluster: the largest value, which is the number of none."""
    return int(np.iinfo(dtype).max)


def member_row(numbers: np.dtype[Any], rules: Sequence[Rule], words: int) -> np.dtype[Any]:
    """Returns the type of a member of a cluster: root, number, hash of its id, facts for the rules, and its sketch."""
    facts = [FACTS[rule] for rule in deciding(rules) if rule in FACTS]
    fields: list[Any] = [("root", numbers), ("member", numbers), ("id", "<u8"), *facts, ("sketch", "<u8", (words,))]
    return np.dtype(fields)


def pair_row(numbers: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type of a pair: the first document of the cluster, the pair, and whether its texts are equal."""
    return np.dtype([("root", numbers), ("pair", numbers, (2,)), ("copies", numbers)])


def save_rows(task: Task, kind: str, path: str, rows: Buckets) -> int:
    """Writes rows range after range to a `.npy` file, of which each is a segment of the kind; returns their number.

    The file has them as rows of uint32.
    """
    starts, words = [0], rows.dtype.itemsize // 4
    with task.array(f"{path}.{kind}.npy", np.uint32, (words,)) as out:
        for number in range(len(rows)):
            hasher = sized_hasher(rows.size(number) * rows.dtype.itemsize)
            for block in rows.rows(number):
                out.append(np.ascontiguousarray(block).view(np.uint32).reshape(-1, words))
                hasher.update(block.tobytes())
            task.segments[_segment(kind, range_key(number))] = hasher.hexdigest()
            starts.append(starts[-1] + rows.size(number))
    task.save_counters(_starts(kind), {"starts": starts})
    return starts[-1]


def save_segments(task: Task, count: int) -> None:
    """Records for each range a segment that covers its rows of all kinds, for the stage that reads them."""
    for key in map(range_key, range(count)):
        task.segments[key] = content_digest(*(task.segments[_segment(kind, key)].encode() for kind in KINDS))


def rows_of(partitions: Partitions, kind: str, key: str, row: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Yields the rows of a kind and a range that all partitions have, in blocks."""
    for partition, (start, stop) in zip(partitions, _spans(partitions, kind, key), strict=True):
        if stop > start:
            yield from partition.segment_blocks(f".{kind}.npy", _segment(kind, key), row, start, stop)


def count_of(partitions: Partitions, kind: str, key: str) -> int:
    """Returns how many rows of a kind and a range all partitions have together."""
    return sum(stop - start for start, stop in _spans(partitions, kind, key))


def _spans(partitions: Partitions, kind: str, key: str) -> list[tuple[int, int]]:
    number = int(key.removeprefix("range-"))
    all_starts = (found.counters(_starts(kind))["starts"] for found in partitions)
    return [(starts[number], starts[number + 1]) for starts in all_starts]


def _segment(kind: str, key: str) -> str:
    return f"{kind} of {key}"


def _starts(kind: str) -> str:
    return f"starts of {kind}"
