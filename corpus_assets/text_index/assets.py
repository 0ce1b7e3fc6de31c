"""The stage of the index of texts: present with `search_index: true`."""

from collections.abc import Iterator

import numpy as np

from corpus_assets.text_index.grams import block_starts, rows_for, tables, width_of
from resources.formats.row_tables import TEXTS
from resources.stage.declaration import Partitioning, Stage, same
from resources.stage.partition import Partition
from resources.stage.task import Task

NAME = "search_index"
BLOCKS, TABLE = ".blocks.npy", ".runs.npy"


def search_index(task: Task) -> None:
    """Writes the first row of each block of a shard's documents, and the table of bits of all blocks."""
    documents = task.input("normalized_documents")
    sizes = documents.array(".texts.npy")["bytes"]
    starts, path = block_starts(sizes), f"search/{task.shard.source}/{task.shard.name}"
    text_bytes = int(sizes.sum(dtype=np.int64))
    rows = rows_for(text_bytes, len(starts))
    with task.array(f"{path}{BLOCKS}", np.int64) as blocks:
        blocks.append(starts)
    with task.array(f"{path}{TABLE}", np.uint8, (width_of(len(starts)),)) as table:
        for slab in tables(_texts(documents, [*starts[1:].tolist(), len(sizes)]), len(starts), rows):
            table.append(slab)
    task.count(rows_in=len(sizes), rows_out=len(starts), text_bytes=text_bytes)


def _texts(documents: Partition, ends: list[int]) -> Iterator[bytes]:
    """Yields the texts of each block, joined. ends: the row after the last of each."""
    held, row, block = bytearray(), 0, 0
    for texts in documents.texts():
        characters, bounds = texts.characters, texts.bounds.tolist()
        for number in range(len(bounds) - 1):
            held += characters[bounds[number] : bounds[number + 1]].tobytes()
            row += 1
            if row == ends[block]:
                yield bytes(held)
                held, block = bytearray(), block + 1


SEARCH_INDEX = Stage(
    name=NAME,
    group="documents",
    unit_in="documents",
    unit_out="blocks of documents",
    description="Which blocks of documents may hold a phrase, for the search of the viewer.",
    partitioning=Partitioning.SHARD,
    compute=search_index,
    code_version="2",  # Smaller blocks, and the lesser of two neighbouring runs, where half of all counted.
    io="records",
    inputs=(same("normalized_documents", segment=TEXTS),),
    kinds=("numpy",),
)
