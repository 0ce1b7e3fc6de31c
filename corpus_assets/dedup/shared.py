"""Helpers that the stages of this folder share: numbers, sketches and parameters of all shards."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.documents.ranges import DocumentRanges
from corpus_assets.dedup.signatures.scheme import SignatureScheme, Sketched
from resources.errors import LedgerError
from resources.hashing import sized_hasher
from resources.spill import Buckets
from resources.stage.partition import Partition
from resources.stage.settings import range_key
from resources.stage.task import Task

ORDER = "order of sources"
NEIGHBOURS = "pairs of neighbours"
PAIR_THRESHOLD = "dedup.threshold"
LOSSES = "losses"
"""Counters of `components`: what each source loses, and how many clusters could not be examined."""

FEATURELESS = "featureless documents take part"
SCHEME = ("minhash.family", "minhash.permutations", "minhash.seed", "minhash.width", "minhash.unit")
DEFAULT_BITS = 1024
DIGESTS = ".digests.npy"
SKETCHED = "candidates with sketches"
STARTS = "starts of ranges"
"""Counters of files whose rows lie by range: where each range starts, and the number of rows."""

_BLOCK = 1 << 18


def scheme_of(task: Task) -> Sketched:
    """Returns the configured scheme of signatures and sketches."""
    return Sketched(SignatureScheme(*(task[key] for key in SCHEME)), task["minhash.sketch"])


def stored_scheme(shards: Sequence[Partition]) -> Any:
    """Returns the scheme stored next to the arrays of all shards, as plain values; `LedgerError` if they differ."""
    # Thousands of shards have one scheme: a file is not opened if one with the same digest was.
    differing: dict[str, Partition] = {}
    for shard in shards:
        differing.setdefault(shard.file(".scheme.json").digest, shard)
    found = {shard.key: shard.json(".scheme.json") for shard in differing.values()}
    first = next(iter(found.values()), {**SignatureScheme().__dict__, "sketch": DEFAULT_BITS})
    for key, scheme in found.items():
        if scheme != first:
            raise LedgerError(f"{key} has {scheme}, {shards[0].key} has {first}; run `corpus build`")
    return first


def takes_part(task: Task, short_documents: Partition) -> NDArray[np.bool_]:
    """Returns which rows of a shard may be duplicates at all, as a new array."""
    short = np.array(short_documents.array(".short.npy"))
    return ~short if task["dedup.short_documents"] == "exclude" else np.ones(len(short), dtype=np.bool_)


def numbering_of(shards: Sequence[Partition], suffix: str = ".texts.npy") -> Numbering:
    """Returns the numbers of all documents, from the row counts in the shards' records."""
    return Numbering.of((shard.key or "", shard.file(suffix).rows or 0) for shard in shards)


def stored_numbering(whole: Partition) -> Numbering:
    """Returns the numbers with which a whole-corpus partition was made."""
    return _numbering(whole.content("shards.json"))


@lru_cache(maxsize=1)
def _numbering(table: bytes) -> Numbering:
    # The shards of a corpus are read one after the other, and each needs that of all.
    return Numbering.of((row["shard"], row["rows"]) for row in msgspec.json.decode(table))


def require_numbering(numbering: Numbering, paired: Sequence[Partition], suffix: str) -> None:
    """Raises `LedgerError` unless all pairs were made over the present shards."""
    if any(found.json(suffix) != numbering.table() for found in paired):
        raise LedgerError("pairs were made over other shards than the present ones; run `corpus build` to renew them")


def ranges_of(task: Task, numbering: Numbering) -> DocumentRanges:
    """Returns the ranges of document numbers under the configuration of a stage that reads `dedup.ranges`."""
    return DocumentRanges(numbering.total, task["dedup.ranges"])


def range_number(key: str) -> int:
    """Returns the number of the range that a partition is."""
    return int(key.removeprefix("range-"))


def save_by_range(task: Task, path: str, rows: Buckets, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> int:
    """Writes the rows of all ranges one after the other to a `.npy` file; returns their number.

    Each range is a segment. The file holds rows of `shape` and `dtype`, which are the same bytes.
    """
    starts = [0]
    with task.array(path, dtype, shape) as out:
        for number in range(len(rows)):
            hasher = sized_hasher(rows.size(number) * rows.dtype.itemsize)
            for block in rows.rows(number):
                out.append(block.view(dtype).reshape(-1, *shape))
                hasher.update(block.tobytes())
            task.segments[range_key(number)] = hasher.hexdigest()
            starts.append(starts[-1] + rows.size(number))
    save_starts(task, starts)
    return starts[-1]


def save_starts(task: Task, starts: list[int]) -> None:
    """Records where each range starts in a file, and the number of rows; a fan-in opens no file for that."""
    task.save_counters(STARTS, {"starts": starts})


def rows_of_range(partition: Partition, key: str) -> tuple[int, int]:
    """Returns the first row of a range in a partition's file, and the one after its last."""
    starts, number = partition.counters(STARTS)["starts"], range_number(key)
    return starts[number], starts[number + 1]


def segment_rows(partition: Partition, suffix: str, key: str, row: DTypeLike) -> Iterator[NDArray[Any]]:
    """Yields the rows of a range in blocks, as `row`; reads nothing if it has none."""
    start, stop = rows_of_range(partition, key)
    return partition.segment_blocks(suffix, key, row, start, stop) if stop > start else iter(())


def blocks_of(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yields a mapped array in blocks, so that little of it is held."""
    for start in range(0, len(array), _BLOCK):
        yield np.array(array[start : start + _BLOCK])


def sketches_of(task: Task, numbering: Numbering) -> tuple[Column, Sketched]:
    """Returns the sketches of all documents by number, and their scheme."""
    shards = task.inputs("minhashes")
    sketched = Sketched.read(stored_scheme(shards))
    empty = np.empty((0, sketched.bits // 8), dtype=np.uint8)
    return Column(numbering, lambda position: shards[position].array(".sketch.npy"), empty), sketched
