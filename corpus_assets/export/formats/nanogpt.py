"""Files of nanoGPT: the stream of all ids, uint16, without a header (docs/formats/trainers.md "nanoGPT")."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import NanogptExport
from corpus_assets.export.documents import Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format
from resources.stage.task import Task


def write(task: Task, build: Build[NanogptExport], parts: Parts, files: Files) -> None:
    """Writes the documents of all partitions into one file."""
    part = build.section.part or ("val" if build.section.is_held_out else "train")
    path, units = build.path(f"{part}.bin"), 0
    with task.binary(path) as out:
        for documents in parts:
            for block in documents.blocks(np.dtype("<u2")):
                out.write(block.data)
            files.add(path, documents, unit=units)
            units += len(documents)


def read(file: BinaryIO, _: Build[NanogptExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a file."""
    return plain_ids(file, np.dtype("<u2"))


NANOGPT = Format(
    section=NanogptExport,
    words="One file for nanoGPT (train.bin or val.bin)",
    unit="document",
    write=write,
    read=read,
    together=True,
)
