"""Small arrays of many partitions in one array, so that a job over thousands of shards pays little for each.

A worker reads and checks them for its first such job, and keeps them for the next (`Partitions.once`).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from resources.errors import LedgerError
from resources.formats.arrays import HEADER_BYTES
from resources.stage.partitions import Partitions
from resources.stage.soundness import SMALL

_SHARE = 16
_RUN_BYTES = 1 << 22

Starts = NDArray[np.int64]


class Run(NamedTuple):
    """Partitions `first` to `stop` of a list, and the rows of one file of each, concatenated.

    rows: read-only, shape (rows,); None for a partition whose file is read by itself.
    starts: where the rows of each partition begin, and their number, shape (stop - first + 1,).
    paths: of the files.
    """

    first: int
    stop: int
    rows: NDArray[Any] | None
    starts: Starts
    paths: Sequence[str]

    @property
    def partitions(self) -> slice:
        """The place of the partitions in their list."""
        return slice(self.first, self.stop)

    def places(self, starts: Starts, stops: Starts) -> Starts:
        """Returns the places in `rows` of rows `starts` to `stops` of each partition, both of shape (stop - first,).

        `LedgerError` if a file does not have them.
        """
        held = np.diff(self.starts)
        if wrong := np.flatnonzero((starts < 0) | (starts > stops) | (stops > held)).tolist():
            asked = f"rows {starts[wrong[0]]} to {stops[wrong[0]]} were asked for"
            raise LedgerError(f"{self.paths[wrong[0]]} has {held[wrong[0]]} rows; {asked}")
        return ranges(self.starts[:-1] + starts, self.starts[:-1] + stops)


def ranges(starts: Starts, stops: Starts) -> Starts:
    """Returns the concatenated ranges from `starts` to `stops`."""
    sizes = stops - starts
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def small_arrays(partitions: Partitions, suffix: str, row: np.dtype[Any], memory: int) -> list[Run]:
    """Returns the rows of a `.npy` file of all partitions in order, as `row`, in runs of at most a few megabytes.

    memory: bytes that a job may use; the runs take at most a sixteenth of it. A file that is not small, or for which
    there is no room, is a run of its own without rows, and read by the caller.
    """
    return partitions.once(_read, suffix, row, memory // _SHARE)


def _read(partitions: Partitions, suffix: str, row: np.dtype[Any], room: int) -> list[Run]:
    files = [partition.file(suffix) for partition in partitions]
    runs = []
    for first, stop, kept in _cuts([file.bytes for file in files], room):
        paths = [file.path for file in files[first:stop]]
        contents = [partition.content(suffix, keep=False) for partition in partitions[first:stop]] if kept else None
        rows, starts = (None, np.zeros(2, np.int64)) if contents is None else _joined(contents, paths, row)
        runs.append(Run(first, stop, rows, starts, paths))
    return runs


def _cuts(sizes: Sequence[int], room: int) -> Iterator[tuple[int, int, bool]]:
    """Yields first and stop of each run, and whether its files are kept. sizes: bytes of each file."""
    first = held = 0
    for number, size in enumerate(sizes):
        keep = size <= min(SMALL, room)
        if number > first and not (keep and held + size <= _RUN_BYTES):
            yield first, number, True
            first, held = number, 0
        if keep:
            held, room = held + size, room - size
        else:
            yield number, number + 1, False
            first = number + 1
    if first < len(sizes):
        yield first, len(sizes), True


def _joined(contents: Sequence[bytes], paths: Sequence[str], row: np.dtype[Any]) -> tuple[NDArray[Any], Starts]:
    """Returns the concatenated rows of files, and where those of each begin."""
    sizes = np.array([len(content) - HEADER_BYTES for content in contents])
    if wrong := np.flatnonzero((sizes < 0) | (sizes % row.itemsize > 0)).tolist():
        problem = f"{sizes[wrong[0]]} bytes are no rows of {row.itemsize}"
        raise LedgerError(f"{paths[wrong[0]]}: {problem}; run `corpus verify --deep`")
    rows = np.frombuffer(b"".join([memoryview(content)[HEADER_BYTES:] for content in contents]), row)
    return rows, np.concatenate([[0], np.cumsum(sizes // row.itemsize)])
