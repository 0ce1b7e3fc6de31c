"""MosaicML's MDS: shards with a column `tokens` (docs/formats/trainers.md "MDS")."""

import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
import xxhash
import zstandard
from numpy.typing import NDArray

from corpus_assets.config.datasets.window_exports import MdsExport
from corpus_assets.export.documents import BLOCK_IDS, Documents, IdReader, runs
from corpus_assets.export.format import Build, Files, Format
from corpus_assets.export.units import Units
from resources.formats.codecs import open_zstd
from resources.stage.partition import Partition
from resources.stage.task import Task

INDEX, VERSION = "index.json", 2
IDS = np.dtype("<i4")
USUAL_LEVEL = 3
HASHES: Mapping[str, Callable[[], Any]] = {
    "md5": hashlib.md5,
    "sha1": hashlib.sha1,
    "sha256": hashlib.sha256,
    "xxh128": xxhash.xxh128,
    "xxh3_64": xxhash.xxh3_64,
    "xxh64": xxhash.xxh64,
}
Described = dict[str, Any]
Blocks = Iterable[bytes | memoryview]


def write(task: Task, build: Build[MdsExport], parts: Iterable[Documents], files: Files) -> None:
    """Writes the shards of one partition into a folder of its own, with their index."""
    for documents in parts:
        shards = [*_shards(task, build, documents, files)]
        task.save_bytes(build.path(f"{documents.key}/{INDEX}"), index_of(shards))


def finish(task: Task, build: Build[Any], made: Sequence[Partition]) -> None:
    """Writes the index over the shards of all folders."""
    shards = []
    for partition in made:
        folder = partition.file(INDEX).path.removesuffix(INDEX).removeprefix(build.path(""))
        for shard in partition.json(INDEX)["shards"]:
            moved = {name: shard[name] and _moved(shard[name], folder) for name in ("raw_data", "zip_data")}
            shards.append(shard | moved)
    task.save_bytes(build.path(INDEX), index_of(shards))


def _moved(file: Described, folder: str) -> Described:
    return file | {"basename": f"{folder}{file['basename']}"}


def index_of(shards: list[Described]) -> bytes:
    """Returns the index over shards."""
    return json.dumps({"version": VERSION, "shards": shards}, sort_keys=True).encode()


def read(file: BinaryIO, build: Build[MdsExport]) -> Iterator[NDArray[Any]]:
    """Yields the ids of the samples of a shard, one by one."""
    shard = open_zstd(file) if build.section.compression else file
    (samples,) = struct.unpack("<I", shard.read(4))
    offsets = np.frombuffer(shard.read(4 * (samples + 1)), "<u4").astype(np.int64)
    shard.read(int(offsets[0]) - 4 * (samples + 2))
    for size in np.diff(offsets).tolist():
        sample = shard.read(size)
        yield np.frombuffer(sample, IDS, offset=0 if build.section.fixed_size else 4 + 1 + (1 << (sample[4] & 3)))
    if shard.read(1):
        raise ValueError("goes on after its last sample")


def _shards(task: Task, build: Build[MdsExport], documents: Documents, files: Files) -> Iterator[Described]:
    """Writes the shards of a partition; yields the entry of each in the index."""
    section = build.section
    layout, units, reader = _Layout(section), Units.of(section, documents, files), IdReader(documents, IDS)
    stored = layout.stored(units.sizes)
    for number, (first, end) in enumerate(runs(stored + 4, section.size_limit - layout.empty_bytes)):
        raw = last = StoredFile(f"shard.{number:05}.mds", section.hashes)
        blocks = raw.through(layout.blocks(stored[first:end], units.sizes[first:end], reader))
        if section.compression:
            last = StoredFile(f"{raw.name}.zstd", section.hashes)
            size = layout.empty_bytes + int((stored[first:end] + 4).sum())
            blocks = last.through(_compressed(blocks, section.compression, size))
        place = units.place(build.path(f"{documents.key}/{last.name}"), first, end)
        with task.binary(place.path) as file:
            for block in blocks:
                file.write(block)
        files.places.append(place)
        zip_data = None if last is raw else last.value()
        yield layout.config | {"samples": place.units, "raw_data": raw.value(), "zip_data": zip_data}


class _Layout:
    """How samples are stored, which is the same in all shards of a dataset."""

    def __init__(self, section: MdsExport) -> None:
        length = section.sequence_length if section.fixed_size else None
        self._has_heads = length is None
        self.config: Described = {
            "column_encodings": ["ndarray:int32" if length is None else f"ndarray:int32:{length}"],
            "column_names": ["tokens"],
            "column_sizes": [None if length is None else IDS.itemsize * length],
            "compression": section.compression,
            "format": "mds",
            "hashes": section.hashes,
            "size_limit": section.size_limit,
            "version": VERSION,
        }
        self._config = json.dumps(self.config, sort_keys=True).encode()

    @property
    def empty_bytes(self) -> int:
        """Returns the bytes of a shard without samples."""
        return 4 + 4 + len(self._config)

    def stored(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns the bytes of samples of so many ids (samples,)."""
        values = IDS.itemsize * sizes
        if not self._has_heads:
            return values
        return values + 4 + 1 + np.where(sizes < 1 << 8, 1, np.where(sizes < 1 << 16, 2, 4))

    def blocks(self, stored: NDArray[np.int64], sizes: NDArray[np.int64], reader: IdReader) -> Iterator[bytes]:
        """Yields a shard of samples of so many bytes and ids, whose ids are read one after another."""
        start = self.empty_bytes + 4 * len(stored)
        offsets = start + np.concatenate([[0], np.cumsum(stored)])
        yield struct.pack("<I", len(stored)) + offsets.astype("<u4").tobytes() + self._config
        for first, end in runs(sizes, BLOCK_IDS):
            chosen = sizes[first:end]
            ids = reader.read(int(chosen.sum()))
            yield b"".join(_with_heads(ids, chosen.tolist())) if self._has_heads else ids.tobytes()


def _with_heads(ids: NDArray[Any], sizes: list[int]) -> Iterator[bytes | memoryview]:
    values, start = ids.data.cast("B"), 0
    for size in sizes:
        yield _head(size)
        yield values[start : (start := start + IDS.itemsize * size)]


@lru_cache(1 << 16)
def _head(size: int) -> bytes:
    """Returns what comes before the values of an array: bytes of the column, number of axes, type and value of size."""
    code, kind = (0, "B") if size < 1 << 8 else (1, "H") if size < 1 << 16 else (2, "I")
    shape = struct.pack(f"<B{kind}", 1 << 2 | code, size)
    return struct.pack("<I", len(shape) + IDS.itemsize * size) + shape


def _compressed(blocks: Blocks, compression: str, size: int) -> Iterator[bytes]:
    """Yields one zstd frame. size: bytes of all blocks, which the frame says, since readers ask for it."""
    level = int(compression.partition(":")[2] or USUAL_LEVEL)
    zipper = zstandard.ZstdCompressor(level=level).compressobj(size=size)
    for block in blocks:
        yield zipper.compress(block)
    yield zipper.flush()


@dataclass
class StoredFile:
    """Counts and hashes a file on its way."""

    name: str
    hashes: Sequence[str]
    bytes: int = 0
    _hashers: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self._hashers = {name: HASHES[name]() for name in self.hashes}

    def through(self, blocks: Iterable[Any]) -> Iterator[Any]:
        """Yields the blocks of the file as they are."""
        for block in blocks:
            self.bytes += len(block)
            for hasher in self._hashers.values():
                hasher.update(block)
            yield block

    def value(self) -> Described:
        """Returns what the index says of the file, once it is written."""
        hashes = {name: hasher.hexdigest() for name, hasher in self._hashers.items()}
        return {"basename": self.name, "bytes": self.bytes, "hashes": hashes}


MDS = Format(
    section=MdsExport,
    words="Samples for llm-foundry and Composer (.mds)",
    unit="window",
    write=write,
    read=read,
    finish=finish,
)
