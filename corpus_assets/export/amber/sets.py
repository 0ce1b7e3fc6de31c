"""The sets of windows of a dataset, and the windows of some files collected in a temporary file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from corpus_assets.config.datasets.amber_exports import AmberExport
from corpus_assets.export.amber.runs import ORIGIN, Cut, Run
from corpus_assets.export.amber.shares import OutputFile
from corpus_assets.export.documents import Parts
from corpus_assets.export.format import Build

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class WindowSet:
    """Windows that are distributed together: those of its runs, one after another."""

    source: str
    runs: tuple[Run, ...]

    @property
    def windows(self) -> int:
        """Returns how many there are."""
        return sum(run.windows for run in self.runs)


def window_sets(build: Build[AmberExport], parts: Parts) -> list[WindowSet]:
    """Returns the sets of a dataset: those that it lists, or one for each source of its documents, by name."""
    section = build.section
    cut = Cut(section.window, sum(map(len, build.separators)), section.wrap)
    if isinstance(section.input, list):
        listed: Sequence[Any] = section.input  # Its datasets name assets here (`ExportedDataset.values`).
        return [
            WindowSet(one["source"], tuple(Run(parts, _of(parts, asset), None, cut) for asset in one["datasets"]))
            for one in listed
        ]
    every = range(len(parts.streams))
    if not isinstance(section.input, str):
        return [WindowSet(section.source or build.name, (Run(parts, every, None, cut),))]
    sources = sorted({source for found in parts.by_source for source in found})
    return [WindowSet(source, (Run(parts, every, source, cut),)) for source in sources]


def _of(parts: Parts, asset: str) -> list[int]:
    """Returns the numbers of the partitions of an asset."""
    return [number for number, stream in enumerate(parts.streams) if stream.record.asset == asset]


class GatheredWindows:
    """The windows of some files in a temporary file, which is read in any order.

    slots: for each line of all files, one after another, where its window is.
    """

    def __init__(self, sets: Sequence[WindowSet], files: Sequence[OutputFile], dtype: Any, spill: BinaryIO) -> None:
        kinds = np.concatenate([file.sets for file in files])
        windows = np.concatenate([file.windows for file in files])
        order = np.lexsort((windows, kinds))
        self.slots = np.empty(len(order), np.int64)
        self.slots[order] = np.arange(len(order))
        kinds, windows = kinds[order], windows[order]
        origins = [np.empty(0, ORIGIN)]
        for kind, one in enumerate(sets):
            low, high = np.searchsorted(kinds, [kind, kind + 1])
            _spill(one, windows[low:high], np.dtype(dtype), (int(low), origins), spill)
        self._origins = np.concatenate(origins)
        spill.flush()
        shape = (len(order), sets[0].runs[0].cut.window if sets else 1)
        self._held = np.memmap(spill, dtype, "r", shape=shape) if len(order) else np.empty(shape, dtype)

    def __getitem__(self, slots: Ids) -> NDArray[Any]:
        return np.asarray(self._held[slots])

    def origins(self, slots: Ids) -> NDArray[np.void]:
        """Returns where windows come from, which are counted from 0 in the result."""
        low, high = np.searchsorted(self._origins["window"], slots), np.searchsorted(self._origins["window"], slots + 1)
        counts = high - low
        places = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(low, counts)
        found: NDArray[np.void] = self._origins[places]
        found["window"] = np.repeat(np.arange(len(slots)), counts)
        return found


def _spill(
    one: WindowSet, windows: Ids, dtype: np.dtype[Any], origins: tuple[int, list[NDArray[np.void]]], spill: BinaryIO
) -> None:
    """Writes the windows of a set, given their numbers in ascending order.

    origins: number of the first of the windows among those in the file, and a list to add to.
    """
    (slot, found), first = origins, 0
    for run in one.runs:
        low, high = np.searchsorted(windows, [first, first + run.windows])
        of_run: list[NDArray[np.void]] = []
        for block in run.gather(windows[low:high] - first, dtype, of_run):
            spill.write(block.tobytes())
        for origin in of_run:
            origin["window"] += np.uint64(slot + low)
        found += of_run
        first += run.windows
