"""Where the scale benchmark keeps its arrays: shards of documents in one folder, and scratch files that are counted.

The parts of a stage run in processes of their own, so many at once as there are workers, which share the memory.
"""

import io
import os
import resource
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from benchmarks.related import BITS, Related
from benchmarks.scale_store import Store
from corpus_assets.dedup.documents.columns import Column
from corpus_assets.dedup.documents.numbering import Numbering
from corpus_assets.dedup.documents.ranges import DocumentRanges
from resources.formats.arrays import ArrayWriter
from resources.spill import Buckets

SHARD_ROWS = 100_000
_SOURCES = 8

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

    def __init__(self, folder: Path, documents: int, memory: int, *, workers: int, ranges: int) -> None:
        self.folder, self.memory, self.workers = folder, memory // workers, workers
        self.ranges = DocumentRanges(documents, ranges)
        self.related = Related(documents)
        starts = [*range(0, documents, SHARD_ROWS), documents]
        sizes = np.diff(starts).tolist()
        self.numbering = Numbering.of(
            (f"source-{shard % _SOURCES}--{shard:06}", size) for shard, size in enumerate(sizes)
        )
        self.store = Store(folder, self.numbering, ranges)

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

    @contextmanager
    def array(self, name: str, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> Iterator[ArrayWriter]:
        """A file of rows that are appended in blocks."""
        with (self.folder / f"{name}.npy").open("wb") as file:
            writer = ArrayWriter(file, np.dtype(dtype), shape)
            yield writer
            writer.finish()

    def write(self, name: str, blocks: Iterable[Array], columns: int) -> int:
        """Store blocks of document numbers (rows, columns) as one file; the number of rows."""
        rows = 0
        with self.array(name, self.numbering.dtype, (columns,)) as out:
            for block in blocks:
                out.append(block)
                rows += len(block)
        return rows

    def write_by_range(self, name: str, rows: Buckets) -> int:
        """Store rows range by range as one file, and where each range starts; the number of rows."""
        starts = np.cumsum([0, *(rows.size(number) for number in range(len(rows)))])
        with self.array(name, rows.dtype) as out:
            for number in range(len(rows)):
                for block in rows.rows(number):
                    out.append(block)
        self.save(f"{name}.starts", starts)
        return int(starts[-1])

    def of_range(self, name: str, number: int, rows: int = 1 << 17) -> Iterator[Array]:
        """The stored rows of one range, some at a time."""
        first, after = self.load(f"{name}.starts")[number : number + 2].tolist()
        array = self.load(name)
        for start in range(first, after, rows):
            yield np.array(array[start : min(start + rows, after)])

    def each(self, part: Callable[["Run", int], dict[str, int]], count: int) -> dict[str, int]:
        """Run the parts of a stage; the sums of what they count, the most memory and scratch of a part."""
        with ProcessPoolExecutor(self.workers, mp_context=get_context("fork")) as pool:
            found = list(pool.map(_measured, [part] * count, [self] * count, range(count)))
        Scratch.most = max(Scratch.most, *(scratch for _, scratch, _ in found)) * self.workers
        sums = {name: sum(counted[name] for counted, _, _ in found) for name in found[0][0]}
        return sums | {"peak_rss_mb": max(memory for _, _, memory in found)}

    def blocks(self, name: str, rows: int = 1 << 20) -> Iterator[Array]:
        """The rows of a stored array, some at a time."""
        array = self.load(name)
        for start in range(0, len(array), rows):
            yield np.array(array[start : start + rows])

    def pairs(self) -> Iterator[Array]:
        """All pairs that count."""
        return (block for name in ("exact", "verified") for block in self.blocks_of(name))

    def blocks_of(self, name: str) -> Iterator[Array]:
        """The pairs of all ranges."""
        return (block for number in range(self.ranges.count) for block in self.blocks(f"{name}-{number:03}"))

    def remove(self, pattern: str) -> None:
        for path in self.folder.glob(pattern):
            path.unlink()

    def spill(self) -> BinaryIO:
        return io.BufferedRandom(Scratch(self.folder))

    def sketches(self) -> Column:
        """The sketches of all documents."""
        shards = self.numbering.shards
        empty = np.empty((0, BITS // 8), dtype=np.uint8)
        return Column(self.numbering, lambda position: self.load(f"minhashes/{shards[position]}.sketch"), empty)

    def disk(self) -> int:
        """Bytes stored, without scratch files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*.npy"))


def _measured(part: Callable[[Run, int], dict[str, int]], run: Run, number: int) -> tuple[dict[str, int], int, int]:
    """What a part counts, and the most scratch and memory of its process so far."""
    counted = part(run, number)
    return counted, Scratch.most, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
