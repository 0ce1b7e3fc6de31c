"""The asset `exact_duplicates`: pairs of documents with equal texts, over all shards, of one range of digests."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Documents, Edges, Numbering
from corpus_assets.dedup.documents.ranges import digest_rows
from corpus_assets.dedup.pairs.equal_texts import Digests, exact_pairs
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.shared import DIGESTS, numbering_of, rows_of_range, save_numbering, spans_of
from resources.stage.partitions import Partitions
from resources.stage.small_arrays import small_arrays
from resources.stage.soundness import SMALL
from resources.stage.task import Task

_RANGE = 1 << 20


def exact_duplicates(task: Task) -> None:
    """Writes the pairs of documents with equal texts whose digests lie in a range, each with the first one."""
    shards, numbering = task.inputs("band_keys"), numbering_of(task.inputs("short_documents"), ".short.npy")
    half, spill = task.memory // 2, task.scratch
    found: Iterator[Edges] = iter(())
    if task["dedup.exact_first"]:
        texts = _texts(shards, numbering, task.key, task.memory)
        found = exact_pairs(texts, memory=half, spill=spill, dtype=numbering.dtype)
    with task.array(f"exact_duplicates/{task.key}.npy", numbering.dtype, (2,)) as out:
        for _, pairs in unique_pairs(found, numbering.total, _RANGE, memory=half, spill=spill):
            out.append(pairs)
    save_numbering(task, f"exact_duplicates/{task.key}.shards.json", numbering)
    count = out.written.rows
    task.count(rows_in=rows_of_range(shards, task.key), rows_out=count, exact_duplicates=count)


def _texts(shards: Partitions, numbering: Numbering, key: str, memory: int) -> Iterator[tuple[Digests, Documents]]:
    """Yields the digests of a range in blocks, in the order of shards, and the numbers of their documents."""
    spans, firsts, dtype = spans_of(shards, key), numbering.bounds, numbering.dtype
    for run in small_arrays(shards, DIGESTS, digest_rows(SMALL), memory):
        starts, stops = spans[run.partitions].T
        if run.rows is not None:
            rows = run.rows[run.places(starts, stops)]
            yield rows["digest"], _numbered(rows, np.repeat(firsts[run.partitions], stops - starts), dtype)
        elif stops[0] > starts[0]:
            row = digest_rows(numbering.starts[run.stop] - numbering.starts[run.first])
            for rows in shards[run.first].segment_blocks(DIGESTS, key, row, int(starts[0]), int(stops[0])):
                yield rows["digest"], _numbered(rows, firsts[run.first], dtype)


def _numbered(rows: NDArray[np.void], first: NDArray[np.uint64] | np.uint64, dtype: np.dtype[Any]) -> Documents:
    """Returns the numbers of the documents of rows. first: that of the first document of their shard."""
    numbers: Documents = (rows["row"].astype(np.uint64) + first).astype(dtype)
    return numbers
