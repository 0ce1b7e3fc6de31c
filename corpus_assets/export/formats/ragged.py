"""Ragged arrays: `.data.npy` and `.len.npy` (docs/formats/trainers.md "Ragged arrays")."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import RaggedExport
from corpus_assets.export.documents import Documents, Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format
from corpus_assets.export.npy import npy_header
from resources.stage.task import Task

DATA, LENGTHS = ".data.npy", ".len.npy"
CHUNKS = "mix.chunks"
_NUMBERED = re.compile(r"\.([0-9]{1,9})-of-[0-9]{1,9}(?=\.|$)")
SMALL_VOCABULARY = 2**16
SIGNED_VOCABULARY = 2**15
"""Vocabularies up to these are stored in two bytes: unsigned, and signed as pre-tokenize does."""


def write(task: Task, build: Build[RaggedExport], parts: Parts, files: Files) -> None:
    """Writes two arrays for each partition: the ids, and how many of them each document or piece has."""
    numbers: Sequence[int] = [_number(task.key)] if isinstance(build.section.input, str) else ()
    total = task[CHUNKS] if numbers else len(parts)
    numbers = numbers or _numbers_of_files([stream.key or "" for stream in parts.streams], build.section)
    for number, documents in zip(numbers, parts, strict=True):
        _write_arrays(task, build, f"{_prefix(build)}.{number:05d}-of-{total:05d}", documents, files)


def _numbers_of_files(keys: Sequence[str], section: RaggedExport) -> Sequence[int]:
    """Returns the number of each file: its place, or with `compat` the one in its name, as pre-tokenize has it.

    Names of which one has no number, or two have the same, say nothing about the others.
    """
    named = [int(found[1]) for key in keys if section.compat and (found := _NUMBERED.search(key))]
    return named if len(set(named)) == len(keys) else range(len(keys))


def _write_arrays(task: Task, build: Build[RaggedExport], stem: str, documents: Documents, files: Files) -> None:
    rows, path, (ids, lengths) = _rows(documents, build.section), build.path(stem), _types(build)
    with task.binary(f"{path}{DATA}") as out:
        out.write(npy_header(ids, rows.ids))
        for block in rows.blocks(np.dtype(f"<u{ids.itemsize}")):
            out.write(block.data)
    with task.binary(f"{path}{LENGTHS}") as out:
        out.write(npy_header(lengths, len(rows)))
        out.write(rows.sizes.astype(lengths).data)
    files.count(ids=rows.ids - documents.ids, separators=rows.separators - documents.separators)
    files.add(f"{path}{DATA}", rows)


def _rows(documents: Documents, section: RaggedExport) -> Documents:
    """Returns the documents, or the pieces of them that are rows."""
    return documents if section.context_length is None else documents.cut(section.context_length, section.bos_id)


def read(file: BinaryIO, build: Build[RaggedExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a `.data.npy`."""
    dtype, _ = _types(build)
    file.seek(len(npy_header(dtype, 0)))  # All lengths have headers of one size.
    return plain_ids(file, dtype)


def _types(build: Build[RaggedExport]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Returns the types of ids and lengths."""
    if build.section.compat:
        return np.dtype("<i2"), np.dtype("<i4" if build.section.context_length is None else "<i2")
    return np.dtype("<u2" if build.tokenizer.vocab_size <= SMALL_VOCABULARY else "<u4"), np.dtype("<i4")


def _prefix(build: Build[RaggedExport]) -> str:
    section = build.section
    if section.prefix is not None:
        return section.prefix
    split = f"-{section.input.removeprefix('decontaminated_')}" if isinstance(section.input, str) else ""
    return f"{build.name}{split}"


def _number(chunk: str) -> int:
    """Returns the number of a chunk."""
    return int(chunk.rpartition("-")[2])


def _refuses(section: RaggedExport, vocabulary: int) -> Iterator[str]:
    if section.compat and vocabulary > SIGNED_VOCABULARY:
        yield (
            f"compat: pre_tokenize holds ids up to {SIGNED_VOCABULARY - 1:,}, and the tokenizer has {vocabulary:,} "
            "entries; valid: a smaller vocabulary, or no compat"
        )
    if section.bos_id is not None and section.bos_id >= vocabulary:
        yield f"bos_id is {section.bos_id}; valid: less than {vocabulary:,}, the size of the vocabulary"


RAGGED = Format(
    section=RaggedExport,
    words="Ragged arrays (.data.npy, .len.npy)",
    unit="document",
    write=write,
    read=read,
    cut=_rows,
    empty=True,
    together=lambda section: not isinstance(section.input, str),
    parameters=(CHUNKS,),
    refuses=_refuses,
)
