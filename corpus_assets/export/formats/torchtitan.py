"""Files for torchtitan: ids as uint32, and where documents begin (docs/formats/trainers.md "torchtitan")."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import TorchtitanExport
from corpus_assets.export.documents import Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format
from corpus_assets.export.npy import npy_header
from resources.formats.file_format import blocks_of
from resources.stage.task import Task

TOKENS, OFFSETS = "tokens.bin", "document_offsets.npy"


def write(task: Task, build: Build[TorchtitanExport], parts: Parts, files: Files) -> None:
    """Writes the documents of all partitions into one file, and into another where each begins and the last ends."""
    path, units, ids = build.path(TOKENS), 0, 0
    ends = task.scratch()
    with task.binary(path) as out:
        for documents in parts:
            for block in documents.blocks(np.dtype("<u4")):
                out.write(block.data)
            ends.write((ids + np.cumsum(documents.sizes)).astype("<i8").data)
            files.add(path, documents, unit=units)
            units += len(documents)
            ids += documents.ids
    with task.binary(build.path(OFFSETS)) as offsets:
        offsets.write(npy_header(np.dtype("<i8"), units + 1))
        offsets.write(bytes(8))
        ends.seek(0)
        for some in blocks_of(ends):
            offsets.write(some)


def read(file: BinaryIO, _: Build[TorchtitanExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of `tokens.bin`."""
    return plain_ids(file, np.dtype("<u4"))


TORCHTITAN = Format(
    section=TorchtitanExport,
    words="Documents for torchtitan (tokens.bin, document_offsets.npy)",
    unit="document",
    write=write,
    read=read,
    together=True,
)
