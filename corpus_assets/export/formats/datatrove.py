"""Files of datatrove: `.ds`, `.ds.index` and `.ds.metadata` (docs/formats/trainers.md "datatrove")."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import DatatroveExport
from corpus_assets.export.documents import Documents, Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format
from resources.stage.task import Task

SMALL_VOCABULARY = 2**16


def write(task: Task, build: Build[DatatroveExport], parts: Parts, files: Files) -> None:
    """Writes whole documents into files of up to `file_ids`, by default one for each partition."""
    for documents in parts:
        begin = 0
        for number, group in enumerate(documents.groups(build.section.file_ids or max(1, documents.ids))):
            path = build.path(f"{documents.key}-{number:05d}.ds")
            _write_file(task, build, path, group)
            files.add(path, group, id_=begin)
            begin += group.ids


def _write_file(task: Task, build: Build[DatatroveExport], path: str, documents: Documents) -> None:
    """Writes ids, the end of each document in ids, and what the ids are."""
    tokenizer, dtype = build.tokenizer, _dtype(build)
    with task.binary(path) as out:
        for block in documents.blocks(dtype):
            out.write(block.data)
    task.save_bytes(f"{path}.index", np.cumsum(documents.sizes).astype("<u8").tobytes())
    name = build.section.tokenizer_name or f"{tokenizer.kind}-{tokenizer.digest}"
    task.save_bytes(f"{path}.metadata", f"{name}|{dtype.itemsize}\n{documents.ids}".encode())


def _dtype(build: Build[DatatroveExport]) -> np.dtype[Any]:
    return np.dtype("<u2" if build.tokenizer.vocab_size <= SMALL_VOCABULARY else "<u4")


def read(file: BinaryIO, build: Build[DatatroveExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a `.ds`."""
    return plain_ids(file, _dtype(build))


DATATROVE = Format(
    section=DatatroveExport,
    words="Files of datatrove (.ds, .ds.index, .ds.metadata)",
    unit="document",
    write=write,
    read=read,
)
