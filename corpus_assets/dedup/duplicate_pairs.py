"""The asset `duplicate_pairs`: candidate pairs of one band over all shards, by range of the later document."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Numbering, pair_type
from corpus_assets.dedup.pairs.equal_keys import star_pairs
from corpus_assets.dedup.shared import (
    NEIGHBOURS,
    blocks_of,
    ranges_of,
    require_numbering,
    save_by_range,
    save_numbering,
    stored_numbering,
    stored_scheme,
)
from corpus_assets.dedup.signatures.bands import NO_KEY
from corpus_assets.dedup.similarity.jaccard import occurring, wanted
from resources.errors import LedgerError
from resources.formats.arrays import HEADER_BYTES
from resources.spill import Buckets
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.small_arrays import small_arrays
from resources.stage.task import Task

_KEYS = ".bands.npy"
_KEY_BYTES = 8


def duplicate_pairs(task: Task) -> None:
    """Writes the candidate pairs of one band over all shards, as document numbers, and the numbering they use.

    Each range of later documents is a segment, in which pairs are ordered by key, later and first document.
    """
    band, shards = task.key, task.inputs("band_keys")
    shards.once(stored_scheme)
    exact = task.inputs("exact_duplicates")
    numbering = stored_numbering(exact[0])
    require_numbering(numbering, exact, ".shards.json")
    keys = _keys_of_band(shards, band, numbering, _copies(exact, numbering.total), task.memory)
    half, chain = task.memory // 2, task[NEIGHBOURS]
    pairs = star_pairs(keys, memory=half, spill=task.scratch, dtype=numbering.dtype, chain=chain)
    ranges = ranges_of(task, numbering)
    with Buckets(ranges.count, pair_type(numbering.dtype), half, task.scratch) as rows:
        for block in pairs:
            rows.append(ranges.of(block[:, 1]), np.ascontiguousarray(block).view(rows.dtype).reshape(-1))
        edges = save_by_range(task, f"duplicate_pairs/{band}.npy", rows, numbering.dtype, (2,))
    save_numbering(task, f"duplicate_pairs/{band}.shards.json", numbering)
    task.count(rows_in=numbering.total, rows_out=edges, pairs=edges)


def _copies(exact: Sequence[Partition], total: int) -> NDArray[np.uint8]:
    """Returns a bitmap of the documents with the text of an earlier one: total / 8 bytes."""
    return wanted((block[:, 1:] for found in exact for block in blocks_of(found.array(".npy"))), total)


def _keys_of_band(
    shards: Partitions, band: str, numbering: Numbering, left_out: NDArray[np.uint8], memory: int
) -> Iterator[NDArray[np.uint64]]:
    """Yields the keys of a band in the order of shards; the documents of the bitmap `left_out` have no key."""
    shards.once(_require_keys, numbering)
    place, starts = int(band.removeprefix("band-")), numbering.starts
    for run in small_arrays(shards, _KEYS, np.dtype(np.uint64), memory):
        first, after = starts[run.first], starts[run.stop]
        if after == first:
            continue
        if run.rows is None:
            blocks = shards[run.first].segment_blocks(_KEYS, band, (np.uint64, (after - first,)), place, place + 1)
            keys = np.concatenate(list(blocks))[0]
        else:
            documents = np.diff(starts[run.first : run.stop + 1])
            keys = run.rows[run.places(place * documents, (place + 1) * documents)]
        keys[occurring(left_out, first, after)] = NO_KEY
        yield keys


def _require_keys(shards: Partitions, numbering: Numbering) -> None:
    """Raises `LedgerError` unless the files of keys match the numbered shards, with a key for each document."""
    if [shard.key for shard in shards] != list(numbering.shards):
        raise LedgerError("exact duplicates were found in other shards than the present ones; run `corpus build`")
    for shard, rows in zip(shards, np.diff(numbering.starts).tolist(), strict=True):
        file = shard.file(_KEYS)
        held = (file.bytes - HEADER_BYTES) // _KEY_BYTES // max(file.rows or 0, 1)
        if rows and held != rows:
            raise LedgerError(f"{shard.key} has keys of {held} documents, not of {rows}; run `corpus build`")
