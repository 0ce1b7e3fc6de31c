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
from corpus_assets.dedup.similarity.jaccard import occurring, perhaps_occurring
from resources.errors import LedgerError
from resources.formats.documents import decode_document
from resources.hashing import sized_hasher
from resources.spill import Buckets
from resources.stage.output import json_content
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.settings import range_key
from resources.stage.small_arrays import small_arrays
from resources.stage.task import Task

ORDER = "order of sources"
NEIGHBOURS = "pairs of neighbours"
PAIR_THRESHOLD = "dedup.threshold"
LOSSES = "losses"
"""Counters of `components`: the losses of each source, and the number of clusters that could not be examined."""

FEATURELESS = "featureless documents take part"
LEFT_OUT = "left out of the mix"
KEPT_THRESHOLD = "kept documents of a split cluster are compared"
SCHEME = ("minhash.family", "minhash.permutations", "minhash.seed", "minhash.width", "minhash.unit")
DEFAULT_BITS = 1024
DIGESTS = ".digests.npy"
SHORT, EXCLUDED = ".short.npy", "dedup.short_documents"
SKETCHED = "candidates with sketches"
SURE = "sketches say that a pair counts"
STARTS = "starts of ranges"
"""Counters of files with rows in order of ranges: the start of each range, and the number of rows."""

_BLOCK = 1 << 18


def scheme_of(task: Task) -> Sketched:
    """Returns the configured scheme of signatures and sketches."""
    return Sketched(SignatureScheme(*(task[key] for key in SCHEME)), task["minhash.sketch"])


def stored_scheme(shards: Sequence[Partition]) -> Any:
    """Returns the scheme stored next to the arrays of all shards, as plain values; `LedgerError` if they differ."""
    # Thousands of shards have the same scheme: only one file with each digest is opened.
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
    """Returns a new array of the rows of a shard that may be duplicates."""
    short = np.array(short_documents.array(SHORT))
    return ~short if task[EXCLUDED] == "exclude" else np.ones(len(short), dtype=np.bool_)


def numbers_that_take_part(task: Task, short_documents: Partitions) -> list[int]:
    """Returns the number of rows of each shard that may be duplicates."""
    counts: list[int] = []
    for run in small_arrays(short_documents, SHORT, np.dtype(np.bool_), task.memory):
        if run.rows is None:
            counts.append(int(takes_part(task, short_documents[run.first]).sum()))
        elif task[EXCLUDED] == "exclude":
            before = np.concatenate([[0], np.cumsum(~run.rows)])
            counts += np.diff(before[run.starts]).tolist()
        else:
            counts += np.diff(run.starts).tolist()
    return counts


def numbering_of(shards: Partitions, suffix: str = ".texts.npy") -> Numbering:
    """Returns the numbers of all documents, from the row counts in the shards' records."""
    return shards.once(_numbered, suffix)


def _numbered(shards: Partitions, suffix: str) -> Numbering:
    return Numbering.of((shard.key or "", shard.file(suffix).rows or 0) for shard in shards)


def stored_numbering(whole: Partition) -> Numbering:
    """Returns the numbers with which a whole-corpus partition was made."""
    return _numbering(whole.content("shards.json"))


@lru_cache(maxsize=1)
def _numbering(table: bytes) -> Numbering:
    # Shards are read one after the other, and each needs the numbering of all.
    return Numbering.of((row["shard"], row["rows"]) for row in msgspec.json.decode(table))


def require_numbering(numbering: Numbering, paired: Sequence[Partition], suffix: str) -> None:
    """Raises `LedgerError` unless all pairs were made over the present shards."""
    # Pairs over the same shards have the same file: only one with each digest is opened.
    differing = {found.file(suffix).digest: found for found in paired}
    if any(_numbering(found.content(suffix)) != numbering for found in differing.values()):
        raise LedgerError("pairs were made over other shards than the present ones; run `corpus build` to renew them")


def save_numbering(task: Task, path: str, numbering: Numbering) -> None:
    """Writes the numbering with which a partition is made, for its readers."""
    task.save_bytes(path, _table(numbering), rows=len(numbering.shards))


@lru_cache(maxsize=1)
def _table(numbering: Numbering) -> bytes:
    # Each range and band writes the numbering of all shards.
    return json_content(numbering.table())


def ranges_of(task: Task, numbering: Numbering) -> DocumentRanges:
    """Returns the ranges of document numbers for a stage that reads `dedup.ranges`."""
    return DocumentRanges(numbering.total, task["dedup.ranges"])


def range_number(key: str) -> int:
    """Returns the number of a partition's range."""
    return int(key.removeprefix("range-"))


def save_by_range(task: Task, path: str, rows: Buckets, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> int:
    """Writes the rows of all ranges one after the other to a `.npy` file; returns their number.

    Each range is a segment. `shape` and `dtype` describe the same bytes in the file.
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
    """Records the start of each range in a file, and the number of rows, so that a fan-in opens no file for that."""
    task.save_counters(STARTS, {"starts": starts})


def rows_of_range(partitions: Partitions, key: str) -> int:
    """Returns the number of rows that partitions have in a range."""
    return int(np.diff(spans_of(partitions, key)).sum())


def spans_of(partitions: Partitions, key: str) -> NDArray[np.int64]:
    """Returns where a range starts and ends in the file of each partition, shape (partitions, 2)."""
    number = range_number(key)
    return partitions.once(_starts)[:, number : number + 2]


def _starts(partitions: Partitions) -> NDArray[np.int64]:
    return np.array([found.counters(STARTS)["starts"] for found in partitions], dtype=np.int64, ndmin=2)


def segment_rows(partitions: Partitions, suffix: str, key: str, row: DTypeLike) -> Iterator[NDArray[Any]]:
    """Yields the rows of a range of all partitions in blocks, as `row`; does not read partitions without any."""
    for partition, (start, stop) in zip(partitions, spans_of(partitions, key).tolist(), strict=True):
        if stop > start:
            yield from partition.segment_blocks(suffix, key, row, start, stop)


def blocks_of(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yields a mapped array in blocks, so that little of it is in memory."""
    for start in range(0, len(array), _BLOCK):
        yield np.array(array[start : start + _BLOCK])


def sketches_of(task: Task, numbering: Numbering) -> tuple[Column, Sketched]:
    """Returns the sketches of all documents by number, and their scheme."""
    shards = task.inputs("minhashes")
    sketched = Sketched.read(shards.once(stored_scheme))
    empty = np.empty((0, sketched.bits // 8), dtype=np.uint8)
    return Column(numbering, lambda position: shards[position].array(".sketch.npy"), empty), sketched


def texts_of(shards: Sequence[Partition], numbering: Numbering, bitmap: NDArray[np.uint8]) -> Iterator[tuple[int, str]]:
    """Yields the number and text of each document in a bitmap; opens only shards with such documents."""
    for position in np.flatnonzero(perhaps_occurring(bitmap, numbering.starts)).tolist():
        start, stop = numbering.starts[position : position + 2]
        chosen = occurring(bitmap, start, stop)
        if chosen.any():
            lines = shards[position].chosen_lines(chosen)
            for row, line in zip(np.flatnonzero(chosen).tolist(), lines, strict=True):
                yield start + row, decode_document(line).text
