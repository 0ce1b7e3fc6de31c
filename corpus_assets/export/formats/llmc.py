"""Files of llm.c and its kin: a header, and a piece of the stream of all ids (docs/formats/trainers.md "llm.c")."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.document_exports import LlmcExport
from corpus_assets.export.documents import Documents, Parts, plain_ids
from corpus_assets.export.format import Build, Files, Format, Place
from resources.stage.task import Task

HEADER_BYTES = 1024
SMALL_VOCABULARY = 2**16
FILE_BYTES = 2**31
"""Readers count bytes in a signed number of 32 bits, so files have to be smaller than this."""


@dataclass(frozen=True)
class Kind:
    """A kind of header: its first two numbers, and whether the fourth is the number of bytes of an id."""

    magic: int
    version: int
    says_width: bool = False


KINDS = {"gpt2": Kind(20240520, 1), "llama3": Kind(20240801, 7), "automodel": Kind(278895051, 1, says_width=True)}


def write(task: Task, build: Build[LlmcExport], parts: Parts, files: Files) -> None:
    """Writes the stream of all ids into files of exactly `shard_ids`, the last one shorter."""
    total, shard_ids = files.totals.get("ids", 0), build.section.shard_ids
    dtype, kind = id_type(build.section.header, build.tokenizer.vocab_size), KINDS[build.section.header]
    starts = [*range(0, total, shard_ids), total]
    paths = [build.path(_name(build, number)) for number in range(len(starts) - 1)]
    located = _Located(paths, shard_ids, files)
    stream = _Stream(block for part in parts for block in located.passing(part).blocks(dtype))
    for path, (start, end) in zip(paths, pairwise(starts), strict=True):
        with task.binary(path) as out:
            out.write(header(kind, end - start, dtype.itemsize))
            for block in stream.take(end - start):
                out.write(block.data)


def read(file: BinaryIO, build: Build[LlmcExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of a file; ValueError if its header is not the one that goes with its size."""
    dtype = id_type(build.section.header, build.tokenizer.vocab_size)
    found = file.read(HEADER_BYTES)
    size = file.seek(0, io.SEEK_END)
    if found != header(KINDS[build.section.header], (size - HEADER_BYTES) // dtype.itemsize, dtype.itemsize):
        raise ValueError("its header does not go with its size")
    file.seek(HEADER_BYTES)
    return plain_ids(file, dtype)


def id_type(header: str, vocabulary: int) -> np.dtype[Any]:
    """Returns the type of ids that goes with a header."""
    small = header == "gpt2" or (header == "automodel" and vocabulary <= SMALL_VOCABULARY)
    return np.dtype("<u2" if small else "<u4")


def header(kind: Kind, ids: int, width: int) -> bytes:
    """Returns the 256 numbers of a header. width: bytes of an id."""
    numbers = np.zeros(HEADER_BYTES // 4, "<i4")
    numbers[:4] = kind.magic, kind.version, ids, width if kind.says_width else 0
    return numbers.tobytes()


class _Stream:
    """Blocks of ids, taken by number of ids."""

    def __init__(self, blocks: Iterable[NDArray[Any]]) -> None:
        self._blocks = iter(blocks)
        self._held: NDArray[Any] = np.empty(0)

    def take(self, count: int) -> Iterator[NDArray[Any]]:
        """Yields the next ids, which must be there."""
        while count:
            if not len(self._held):
                self._held = next(self._blocks)
            taken, self._held = self._held[:count], self._held[count:]
            count -= len(taken)
            yield taken


def _name(build: Build[LlmcExport], number: int) -> str:
    """Returns the name of a file. Trainers take shard 0 for validation, so those to train on begin with 1."""
    part = build.section.part or ("val" if build.section.is_held_out else "train")
    is_validation = part == "val" or (part == "both" and number == 0)
    index = number + (part == "train")
    return f"{build.section.prefix or build.name}_{'val' if is_validation else 'train'}_{index:06d}.bin"


class _Located:
    """Says what of each partition lies in each file; a document that goes on in the next one is a unit of both."""

    def __init__(self, paths: list[str], shard_ids: int, files: Files) -> None:
        self._paths, self._shard_ids, self._files = paths, shard_ids, files
        self._offset, self._units = 0, [0] * len(paths)

    def passing(self, documents: Documents) -> Documents:
        """Takes the documents of the next partition into account, and returns them."""
        starts, size, offset = np.cumsum(documents.sizes) - documents.sizes, self._shard_ids, self._offset
        self._offset += documents.ids
        for shard in range(offset // size, -(-self._offset // size)) if len(documents) else ():
            begin, end = max(0, shard * size - offset), min(documents.ids, (shard + 1) * size - offset)
            for place in _pieces(documents, starts, (self._paths[shard], self._units[shard]), begin, end):
                self._files.places.append(place)
                self._units[shard] += place.units
        return documents


def _pieces(
    documents: Documents, starts: NDArray[np.int64], at: tuple[str, int], begin: int, end: int
) -> Iterator[Place]:
    """Yields the rest of a document that began in the file before, and the documents that begin in this one.

    at: the file, and how many units it has. begin, end: in the ids of the documents.
    """
    path, unit = at
    first, last = np.searchsorted(starts, [begin, end]).tolist()
    middle = int(starts[first]) if first < last else end
    if rest := middle - begin:
        yield Place(path, unit, 1, documents.key, int(documents.numbers[first - 1]), begin, rest, step=rest)
        unit += 1
    if first < last:
        yield Place(path, unit, last - first, documents.key, int(documents.numbers[first]), middle, end - middle)


def _refuses(section: LlmcExport, vocabulary: int) -> Iterator[str]:
    if section.header == "gpt2" and vocabulary > SMALL_VOCABULARY:
        yield (
            f"header gpt2 goes with ids up to {SMALL_VOCABULARY - 1:,}, and the tokenizer has {vocabulary:,} entries; "
            "valid: another header, or a smaller vocabulary"
        )
    most = (FILE_BYTES - 1 - HEADER_BYTES) // id_type(section.header, vocabulary).itemsize
    if section.shard_ids > most:
        yield f"shard_ids is {section.shard_ids:,}; valid: up to {most:,}, which make a file of 2 GiB"


LLMC = Format(
    section=LlmcExport,
    words="Files for llm.c, modded-nanogpt and NeMo Automodel (.bin)",
    unit="document",
    write=write,
    read=read,
    together=True,
    refuses=_refuses,
)
