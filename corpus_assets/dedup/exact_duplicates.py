"""The asset `exact_duplicates`: pairs of documents with equal texts, over all shards."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.dedup.documents.numbering import Edges, ShardMarks, removal_rows
from corpus_assets.dedup.pairs.equal_texts import exact_pairs
from corpus_assets.dedup.pairs.unique import unique_pairs
from corpus_assets.dedup.shared import numbering_of, takes_part
from resources.stage.task import Task

_RANGE = 1 << 20


def exact_duplicates(task: Task) -> None:
    """Writes the pairs of documents with equal texts, each with the first of its kind; digests the later by shard."""
    documents, short = task.inputs("normalized_documents"), task.inputs("short_documents")
    numbering = numbering_of(documents)
    half, spill = task.memory // 2, task.scratch
    shards = (
        (np.ascontiguousarray(shard.array(".texts.npy")["digest"]), takes_part(task, attribute))
        for shard, attribute in zip(documents, short, strict=True)
    )
    found: Iterator[Edges] = iter(())
    if task["dedup.exact_first"]:
        found = exact_pairs(shards, memory=half, spill=spill, dtype=numbering.dtype)
    marks = ShardMarks(numbering)
    with task.array("exact_duplicates/pairs.npy", numbering.dtype, (2,)) as out:
        for _, pairs in unique_pairs(found, numbering.total, _RANGE, memory=half, spill=spill):
            out.append(pairs)
            marks.add(pairs[:, 1], removal_rows(numbering, pairs[:, 1], pairs[:, 0]))
    task.segments.update(marks.digests())
    task.save_json("exact_duplicates/shards.json", numbering.table(), rows=len(documents))
    count = out.written.rows
    task.count(rows_in=numbering.total, rows_out=count, exact_duplicates=count)
