"""Rows of a fixed type scattered over many buckets in one scratch file, for joins and sorts beyond memory."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import pairwise
from types import TracebackType
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from resources.errors import StorageError

Spill = Callable[[], BinaryIO]
Rows = NDArray[Any]

_MOST_BUCKETS = 1 << 32
_INDEX_BYTES = 20
_BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class _Run:
    """Rows sorted by bucket: those of bucket b are `offsets[b]` to `offsets[b + 1]`, counted from byte `start`."""

    start: int
    offsets: NDArray[np.uint32]


def cut(blocks: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Yields the rows of all blocks in order, in blocks of at most `size` rows, none empty."""
    for block in blocks:
        for start in range(0, len(block), size):
            yield block[start : start + size]


class Buckets:
    """Rows of `dtype` in `count` buckets; each bucket returns its rows in the order in which they were appended.

    Rows gather in a buffer of `memory` bytes. A full buffer goes to the scratch file as one run sorted by bucket:
    writing is sequential, and reading a bucket takes one seek per run. 4 bytes per bucket and run stay in memory. All
    rows are appended before the first is read. `spill` opens the file when the buffer is full for the first time; the
    end of the `with` block closes it.
    """

    def __init__(self, count: int, dtype: DTypeLike, memory: int, spill: Spill) -> None:
        if not 0 <= count <= _MOST_BUCKETS:
            raise ValueError(f"{count} buckets; valid: 0 to 2^32")
        self.dtype = np.dtype(dtype)
        self._spill = spill
        self._file: BinaryIO | None = None
        self._block = max(min(memory // 16, _BLOCK_BYTES) // self.dtype.itemsize, 1)
        limit = min(max(memory // (self.dtype.itemsize + _INDEX_BYTES), 1), _MOST_BUCKETS - 1)
        self._rows = np.empty(limit, dtype=self.dtype)
        # Numbers of 16 bits are sorted in linear time.
        self._numbers = np.empty(limit, dtype=np.uint16 if count <= 1 << 16 else np.uint32)
        self._held = 0
        self._order: NDArray[np.intp] | None = None
        self._runs: list[_Run] = []
        self._sizes = np.zeros(count, dtype=np.int64)

    def __enter__(self) -> "Buckets":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return len(self._sizes)

    def append(self, numbers: NDArray[np.integer[Any]], rows: Rows) -> None:
        """Puts each of `rows` (n,) into the bucket that `numbers` (n,) names.

        `ValueError` for the number of no bucket, for unequal lengths, and once rows have been read.
        """
        if self._order is not None:
            raise ValueError("rows were already read; append all of them before reading")
        if len(numbers) != len(rows):
            raise ValueError(f"{len(numbers)} bucket numbers for {len(rows)} rows")
        if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < len(self):
            raise ValueError(f"buckets {numbers.min()} to {numbers.max()} are named; there are {len(self)}")
        start = 0
        while start < len(rows):
            if self._held == len(self._rows):
                self._flush()
            end = min(len(rows), start + len(self._rows) - self._held)
            place = slice(self._held, self._held + end - start)
            self._rows[place], self._numbers[place] = rows[start:end], numbers[start:end]
            self._held, start = place.stop, end

    def size(self, number: int) -> int:
        """Returns how many rows a bucket holds."""
        self._seal()
        return int(self._sizes[number])

    def rows(self, number: int) -> Iterator[Rows]:
        """Yields a bucket's rows in blocks of at most 4 MiB or a 16th of `memory`, none empty.

        `StorageError` if the scratch file no longer holds what was written.
        """
        order = self._seal()
        *on_file, held = self._runs
        for run in on_file:
            for low, high in self._blocks(run, number):
                yield self._read(run.start + low * self.dtype.itemsize, high - low)
        for low, high in self._blocks(held, number):
            yield self._rows[order[low:high]]

    def _blocks(self, run: _Run, number: int) -> Iterator[tuple[int, int]]:
        low, high = int(run.offsets[number]), int(run.offsets[number + 1])
        return pairwise([*range(low, high, self._block), high])

    def _seal(self) -> NDArray[np.intp]:
        """Sorts what is held as the last run, which stays in memory; returns its order."""
        if self._order is None:
            if self._runs:
                self._flush()
            self._order = self._sorted(0)
        return self._order

    def _sorted(self, start: int) -> NDArray[np.intp]:
        """Notes what is held as a run that starts at this byte; returns its order by bucket."""
        numbers = self._numbers[: self._held]
        sizes = np.bincount(numbers, minlength=len(self))
        self._sizes += sizes
        offsets = np.zeros(len(self) + 1, dtype=np.uint32)
        np.cumsum(sizes, out=offsets[1:], dtype=np.uint32)
        self._runs.append(_Run(start, offsets))
        return np.argsort(numbers, kind="stable")

    def _flush(self) -> None:
        """Writes what is held to the scratch file."""
        if self._file is None:
            self._file = self._spill()
        order = self._sorted(self._file.tell())
        for start in range(0, len(order), self._block):
            self._file.write(self._rows[order[start : start + self._block]].view(np.uint8).data)
        self._held = 0

    def _read(self, start: int, count: int) -> Rows:
        rows = np.empty(count, dtype=self.dtype)
        file = cast(BufferedIOBase, self._file)
        file.seek(start)
        if (got := file.readinto(rows.view(np.uint8).data)) != rows.nbytes:
            raise StorageError(
                f"scratch file: {got} of {rows.nbytes} bytes at {start}; it was cut after it was written"
            )
        return rows
