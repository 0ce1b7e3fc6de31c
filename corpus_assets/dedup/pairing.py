"""Candidate pairs of each band over all shards, and those that are similar enough."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.bands import NO_KEY
from corpus_assets.dedup.clusters import Numbering
from corpus_assets.dedup.exact_check import occurring
from corpus_assets.dedup.pairs import star_pairs
from corpus_assets.dedup.shards import (
    NEIGHBOURS,
    blocks_of,
    numbering_of,
    require_numbering,
    sketches_of,
    stored_scheme,
)
from corpus_assets.dedup.verification import Verification
from resources.task import Part, Task


def duplicate_pairs(task: Task) -> None:
    """Write the candidate pairs of one band over all shards, as document numbers, and the numbering they use."""
    band = task.key
    parts = task.inputs("band_keys")
    stored_scheme(parts)
    exact = task.input("exact_duplicates")
    numbering = Numbering.of((part.partition or "", part.array(".bands.npy").shape[1]) for part in parts)
    require_numbering(numbering, [exact], "shards.json")
    keys = _keys_of_band(parts, int(band.removeprefix("band-")), numbering, exact.array("pairs.npy")[:, 1])
    chain = task[NEIGHBOURS]
    pairs = star_pairs(keys, memory=task.memory, spill=task.pending.scratch, dtype=numbering.dtype, chain=chain)
    with task.array(f"duplicate_pairs/{band}.npy", numbering.dtype, (2,)) as out:
        for block in pairs:
            out.append(block)
    edges = task.files[0].rows
    task.save_json(f"duplicate_pairs/{band}.shards.json", numbering.table(), rows=len(parts))
    task.count(rows_in=numbering.total, rows_out=edges, pairs=edges)


def _keys_of_band(
    parts: Sequence[Part], band: int, numbering: Numbering, left_out: NDArray[np.unsignedinteger[Any]]
) -> Iterator[NDArray[np.uint64]]:
    """Each shard's keys; documents left out (ascending) have none."""
    for part, shard in zip(parts, numbering.shards, strict=True):
        # A copy: a map holds a file descriptor, and there are more shards than those.
        keys = np.array(part.array(".bands.npy")[band])
        keys[numbering.rows_in(shard, left_out)] = NO_KEY
        yield keys


def verified_pairs(task: Task) -> None:
    """Write the pairs of all bands, each once, whose documents are similar enough."""
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
        spill=task.pending.scratch,
    )
    candidates = (block for part in bands for block in blocks_of(part.array(".npy")))
    with task.array("verified_pairs/pairs.npy", numbering.dtype, (2,)) as out:
        for pairs in checked.pairs(candidates, task["dedup.verify"]):
            out.append(pairs)
    count = task.files[0].rows or 0
    task.save_json("verified_pairs/shards.json", numbering.table(), rows=len(numbering.shards))
    task.count(candidates=checked.candidates, pairs=count, not_similar=checked.candidates - count)


def _texts(parts: Sequence[Part], numbering: Numbering, bitmap: NDArray[np.uint8]) -> Iterator[tuple[int, str]]:
    """Texts of the documents in a bitmap; shards without any are not opened."""
    for part, start, stop in zip(parts, numbering.starts[:-1], numbering.starts[1:], strict=True):
        chosen = occurring(bitmap, start, stop)
        if chosen.any():
            for row, document in enumerate(part.documents()):
                if chosen[row]:
                    yield start + row, document.text
