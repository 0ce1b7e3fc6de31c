"""litdata's chunks of blocks, for LitGPT: `.bin` and `index.json` (docs/formats/trainers.md "litdata")."""

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.window_exports import LitdataExport
from corpus_assets.export.documents import BLOCK_IDS, Documents, IdReader, plain_ids
from corpus_assets.export.format import Build, Files, Format, places_of
from corpus_assets.export.units import Units
from resources.hashing import value_digest
from resources.stage.partition import Partition
from resources.stage.task import Task

INDEX = "index.json"
IDS = np.dtype("<i4")
INT32 = "no_header_tensor:16"
"""How litdata names the type of the ids."""
ONE_LEAF = '[1, {"type": null, "context": null, "children_spec": []}]'
"""How litdata describes items that are one tensor each."""


def write(task: Task, build: Build[LitdataExport], parts: Iterable[Documents], files: Files) -> None:
    """Writes the blocks of one partition, `chunk_blocks` to a file; a tail that is no block is counted."""
    section = build.section
    for documents in parts:
        units = Units.windows(documents, section.sequence_length, files)
        reader, blocks = IdReader(documents, IDS), len(units.sizes)
        for number, first in enumerate(range(0, blocks, section.chunk_blocks)):
            place = units.place(
                build.path(f"chunk-{documents.key}-{number}.bin"), first, min(first + section.chunk_blocks, blocks)
            )
            with task.binary(place.path) as chunk:
                chunk.write(_header(place.units, section.sequence_length), place.units)
                for start in range(0, place.ids, BLOCK_IDS):
                    chunk.write(reader.read(min(BLOCK_IDS, place.ids - start)).data)
            files.places.append(place)


def _header(blocks: int, length: int) -> bytes:
    """Returns the number of blocks, where each begins, and where the last one ends."""
    start = 4 * (blocks + 2)
    offsets = start + np.arange(blocks + 1, dtype=np.int64) * (IDS.itemsize * length)
    return struct.pack("<I", blocks) + offsets.astype("<u4").tobytes()


def read(file: BinaryIO, _: Build[LitdataExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a file."""
    (blocks,) = struct.unpack("<I", file.read(4))
    file.seek(4 * (blocks + 2))
    return plain_ids(file, IDS)


def finish(task: Task, build: Build[LitdataExport], made: Sequence[Partition]) -> None:
    """Writes `index.json` over the chunks of all partitions."""
    section = build.section
    config = {
        "chunk_bytes": None,
        "chunk_size": section.chunk_blocks * section.sequence_length,
        "compression": None,
        "data_format": [INT32],
        "data_spec": ONE_LEAF,
        "encryption": None,
        "item_loader": "TokensLoader",
    }
    # Caches of remote folders are kept under this name, so it changes with the content and with nothing else.
    updated_at = value_digest([file.digest for partition in made for file in partition.record.files])
    index = {"chunks": list(_chunks(build, made)), "config": config, "updated_at": updated_at}
    task.save_bytes(build.path(INDEX), json.dumps(index, sort_keys=True).encode())


def _chunks(build: Build[LitdataExport], made: Sequence[Partition]) -> Iterator[dict[str, Any]]:
    for partition in made:
        bytes_ = {file.path: file.bytes for file in partition.record.files}
        for place in places_of(partition):
            yield {
                "chunk_bytes": bytes_[place.path],
                "chunk_size": place.units,
                "dim": place.ids,
                "filename": place.path.removeprefix(build.path("")),
            }


LITDATA = Format(
    section=LitdataExport,
    words="Blocks for LitGPT (chunk-*.bin)",
    unit="window",
    write=write,
    read=read,
    finish=finish,
)
