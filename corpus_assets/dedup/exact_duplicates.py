"""The asset `exact_duplicates`: pairs of documents with equal texts, over all shards, of one range of digests."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.documents.numbering import Documents, Edges, Numbering
from corpus_assets.dedup.documents.ranges import digest_rows
from corpus_assets.dedup.pairs.equal_texts import Digests, exact_pairs
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.shared import DIGESTS, numbering_of, rows_of_range, save_numbering, spans_of_range
from resources.stage.partitions import Partitions
from resources.stage.task import Task

_RANGE = 1 << 20


def exact_duplicates(task: Task) -> None:
    """Writes the pairs of documents with equal texts whose digests lie in a range, each with the first of its kind."""
    shards, numbering = task.inputs("band_keys"), numbering_of(task.inputs("short_documents"), ".short.npy")
    half, spill = task.memory // 2, task.scratch
    found: Iterator[Edges] = iter(())
    if task["dedup.exact_first"]:
        found = exact_pairs(_texts(shards, numbering, task.key), memory=half, spill=spill, dtype=numbering.dtype)
    with task.array(f"exact_duplicates/{task.key}.npy", numbering.dtype, (2,)) as out:
        for _, pairs in unique_pairs(found, numbering.total, _RANGE, memory=half, spill=spill):
            out.append(pairs)
    save_numbering(task, f"exact_duplicates/{task.key}.shards.json", numbering)
    count = out.written.rows
    task.count(rows_in=rows_of_range(shards, task.key), rows_out=count, exact_duplicates=count)


def _texts(shards: Partitions, numbering: Numbering, key: str) -> Iterator[tuple[Digests, Documents]]:
    """Yields the digests of a range in blocks, shard by shard, and the numbers of the documents that have them."""
    for shard, position, (start, stop) in spans_of_range(shards, key):
        first, after = numbering.starts[position : position + 2]
        for rows in shard.segment_blocks(DIGESTS, key, digest_rows(after - first), start, stop):
            yield rows["digest"], (rows["row"].astype(np.uint64) + np.uint64(first)).astype(numbering.dtype)
