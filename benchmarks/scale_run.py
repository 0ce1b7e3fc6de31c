"""Where the scale benchmark keeps its arrays: shards of documents in one folder, and scratch files that are counted."""

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from benchmarks.related import BITS, Related
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from resources.formats.arrays import ArrayWriter

SHARD_ROWS = 100_000

Array = NDArray[Any]


class Scratch(io.FileIO):
    """An anonymous file; all of them together remember the most bytes they held at once."""

    held = 0
    most = 0

    def __init__(self, folder: Path) -> None:
        super().__init__(os.open(folder, os.O_TMPFILE | os.O_RDWR), "r+")
        self._size = 0

    def write(self, content: Any) -> int:
        """Write, and count what the file grew by."""
        written = super().write(content)
        size = max(self._size, self.tell())
        Scratch.held += size - self._size
        Scratch.most = max(Scratch.most, Scratch.held)
        self._size = size
        return written

    def close(self) -> None:
        """Close; the file's bytes are free again."""
        if not self.closed:
            Scratch.held -= self._size
        super().close()


class Run:
    """The documents of one run, cut into shards, and its folder."""

    def __init__(self, folder: Path, documents: int, memory: int) -> None:
        self.folder, self.memory = folder, memory
        self.related = Related(documents)
        starts = [*range(0, documents, SHARD_ROWS), documents]
        sizes = np.diff(starts).tolist()
        self.numbering = Numbering.of((f"shard-{shard:06}", size) for shard, size in enumerate(sizes))

    def shards(self) -> Iterator[tuple[str, NDArray[np.uint64]]]:
        """Key and document numbers of each shard."""
        for row in self.numbering.table():
            first = self.numbering.first(row["shard"])
            yield row["shard"], np.arange(first, first + row["rows"], dtype=np.uint64)

    def load(self, name: str) -> Array:
        array: Array = np.load(self.folder / f"{name}.npy", mmap_mode="r")
        return array

    def save(self, name: str, array: Array) -> None:
        np.save(self.folder / f"{name}.npy", array)

    def write(self, name: str, blocks: Iterable[Array], columns: int) -> int:
        """Store blocks of document numbers (rows, columns) as one file; the number of rows."""
        with (self.folder / f"{name}.npy").open("wb") as file:
            writer = ArrayWriter(file, self.numbering.dtype, (columns,))
            for block in blocks:
                writer.append(block)
            return writer.finish().rows

    def blocks(self, name: str, rows: int = 1 << 20) -> Iterator[Array]:
        """The rows of a stored array, some at a time."""
        array = self.load(name)
        for start in range(0, len(array), rows):
            yield np.array(array[start : start + rows])

    def pairs(self) -> Iterator[Array]:
        """All pairs that count."""
        return (block for name in ("exact", "verified") for block in self.blocks(name))

    def remove(self, pattern: str) -> None:
        for path in self.folder.glob(pattern):
            path.unlink()

    def spill(self) -> BinaryIO:
        return io.BufferedRandom(Scratch(self.folder))

    def sketches(self) -> Column:
        """The sketches of all documents."""
        shards = self.numbering.shards
        empty = np.empty((0, BITS // 8), dtype=np.uint8)
        return Column(self.numbering, lambda position: self.load(f"{shards[position]}.sketches"), empty)

    def disk(self) -> int:
        """Bytes stored, without scratch files."""
        return sum(path.stat().st_size for path in self.folder.iterdir())
