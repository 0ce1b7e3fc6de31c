"""The asset `verified_pairs`: the pairs of all bands whose documents are similar enough."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.shared import blocks_of, numbering_of, require_numbering, sketches_of
from corpus_assets.dedup.similarity.check import Verification
from corpus_assets.dedup.similarity.jaccard import occurring
from resources.formats.documents import decode_document
from resources.stage.partition import Partition
from resources.stage.task import Task


def verified_pairs(task: Task) -> None:
    """Writes the pairs of all bands, each once, whose documents are similar enough."""
    bands, numbering = task.inputs("duplicate_pairs"), numbering_of(task.inputs("minhashes"), ".sketch.npy")
    require_numbering(numbering, bands, ".shards.json")
    sketches, sketched = sketches_of(task, numbering)
    checked = Verification(
        total=numbering.total,
        sketches=sketches.rows,
        texts=lambda bitmap: _texts(task.inputs("normalized_documents"), numbering, bitmap),
        bits=sketched.bits,
        scheme=sketched.scheme,
        threshold=task["dedup.threshold"],
        memory=task.memory,
        spill=task.scratch,
    )
    candidates = (block for band in bands for block in blocks_of(band.array(".npy")))
    with task.array("verified_pairs/pairs.npy", numbering.dtype, (2,)) as out:
        for pairs in checked.pairs(candidates, task["dedup.verify"]):
            out.append(pairs)
    task.save_json("verified_pairs/shards.json", numbering.table(), rows=len(numbering.shards))
    count = out.written.rows
    task.count(rows_in=checked.candidates, rows_out=count)
    task.count(candidates=checked.candidates, pairs=count, not_similar=checked.candidates - count)


def _texts(shards: Sequence[Partition], numbering: Numbering, bitmap: NDArray[np.uint8]) -> Iterator[tuple[int, str]]:
    """Yields the number and text of each document in a bitmap; opens no shard without any."""
    for shard, start, stop in zip(shards, numbering.starts[:-1], numbering.starts[1:], strict=True):
        chosen = occurring(bitmap, start, stop)
        if chosen.any():
            for row, line in zip(np.flatnonzero(chosen).tolist(), shard.chosen_lines(chosen), strict=True):
                yield start + row, decode_document(line).text
