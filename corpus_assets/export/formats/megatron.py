"""Megatron's indexed dataset: `.bin` and `.idx` (docs/formats/trainers.md "Megatron")."""

import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import MegatronExport
from corpus_assets.export.documents import Documents, plain_ids
from corpus_assets.export.format import Build, Files, Format
from resources.stage.task import Task

MAGIC, VERSION = b"MMIDIDX\x00\x00", 1
UINT16, INT32 = 8, 4
"""Codes of the id types."""
SMALL_VOCABULARY = 65_500
"""Vocabularies below this are stored as uint16: the rule of Megatron-LM and gpt-neox."""


def _dtype(build: Build[MegatronExport]) -> np.dtype[Any]:
    return np.dtype("<u2" if build.tokenizer.vocab_size < SMALL_VOCABULARY else "<i4")


def read(file: BinaryIO, build: Build[MegatronExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a `.bin`."""
    return plain_ids(file, _dtype(build))


def write(task: Task, build: Build[MegatronExport], parts: Iterable[Documents], files: Files) -> None:
    """Writes the documents of one partition: their ids, and the index, in which each document is one sequence."""
    dtype = _dtype(build)
    for documents in parts:
        prefix = build.path(f"{documents.key}_text_document")
        with task.binary(f"{prefix}.bin") as ids:
            for block in documents.blocks(dtype):
                ids.write(block.data)
        with task.binary(f"{prefix}.idx") as index:
            for part in _index(documents, dtype):
                index.write(part)
        files.add(f"{prefix}.bin", documents)


def _index(documents: Documents, dtype: np.dtype[Any]) -> Iterator[bytes]:
    """Yields the index: header, ids and byte offset of each sequence, and where documents end."""
    sizes, code = documents.sizes, UINT16 if dtype.itemsize == 2 else INT32
    yield MAGIC + struct.pack("<QBQQ", VERSION, code, len(sizes), len(sizes) + 1)
    yield sizes.astype("<i4").tobytes()
    ends = np.cumsum(sizes) * dtype.itemsize
    yield (ends - sizes * dtype.itemsize).astype("<i8").tobytes()
    yield np.arange(len(sizes) + 1, dtype="<i8").tobytes()


MEGATRON = Format(
    section=MegatronExport,
    words="Documents for Megatron-LM and NeMo (.bin, .idx)",
    unit="document",
    write=write,
    read=read,
)
