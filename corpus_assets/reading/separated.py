"""A token stream as one long list of ids with separators, over all partitions, of which stretches can be copied."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.partition import StreamPartition


class Separators(NamedTuple):
    """The ids that stand before and after each document that has any; None where none does."""

    before: int | None = None
    after: int | None = None

    @classmethod
    def of_manifest(cls, path: str | Path) -> "Separators":
        """Returns the separators of an export, as its `manifest.json` says; `ReadingError` if it says nothing."""
        try:
            said = msgspec.json.decode(Path(path).read_bytes(), type=_Manifest).separator
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ReadingError(f"{path} is no manifest: {error}") from None
        if said.where == "around":
            raise ReadingError(f"{path}: documents stand between texts of several ids; give the separators yourself")
        if said.where not in ("before", "after"):
            return cls()
        return cls(**{said.where: said.id})


class _Separator(msgspec.Struct):
    where: str
    id: int | None = None


class _Manifest(msgspec.Struct):
    separator: _Separator


class Run(NamedTuple):
    """Consecutive ids of one document and its separators.

    document: its number in the stream. first: which of its ids comes first; -1 for the separator before it.
    """

    document: int
    first: int
    size: int


class SeparatedIds:
    """The ids of all partitions, one after another, each document between its separators."""

    def __init__(self, partitions: list[StreamPartition], separators: Separators) -> None:
        before, after = (np.array([] if id_ is None else [id_], np.int64) for id_ in separators)
        self._partitions = partitions
        self._separators = before, after
        around = before.size + after.size
        sizes = [int(partition.blocks[-1] @ (0, 1, around)) for partition in partitions]
        self._begins = [0, *accumulate(sizes)]
        self._firsts = [0, *accumulate(partition.documents for partition in partitions)]

    def __len__(self) -> int:
        return self._begins[-1]

    def window(self, place: int, width: int, dtype: DTypeLike) -> NDArray[Any]:
        """Returns the `width` ids from a place on; there must be so many."""
        number = bisect_right(self._begins, place) - 1
        begin = self._begins[number]
        if place + width > self._begins[number + 1]:
            found: NDArray[Any] = self.windows(np.array([place]), width, dtype)[0]
            return found
        out = np.empty(width, dtype)
        self._copy(number, np.array([[place - begin, width, 0]]), out)
        return out

    def windows(self, places: NDArray[np.int64], width: int, dtype: DTypeLike) -> NDArray[Any]:
        """Returns the `width` ids from each place on (places, width); there must be so many."""
        out = np.empty((len(places), width), dtype)
        for number, stretches in self._stretches(places, width):
            self._copy(number, stretches, out.reshape(-1))
        return out

    def runs(self, place: int, width: int) -> Iterator[Run]:
        """Yields of which documents the `width` ids from a place on are; there must be so many."""
        before, after = (side.size for side in self._separators)
        end = place + width
        number = bisect_right(self._begins, place) - 1
        while place < end:
            begin, stop = self._begins[number], min(end, self._begins[number + 1])
            for document, first, count in self._partitions[number].runs(place - begin, stop - begin, before + after):
                yield Run(self._firsts[number] + document, first - before, count)
            place, number = stop, number + 1

    def _copy(self, number: int, stretches: NDArray[np.int64], out: NDArray[Any]) -> None:
        from corpus_assets.reading.kernels.stretches import copy_stretches

        part = self._partitions[number]
        documents = part.data, part.lengths, part.blocks, part.begins
        copy_stretches(documents, part.chosen, self._separators, stretches, out)

    def _stretches(self, places: NDArray[np.int64], width: int) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yields partitions with the stretches of windows that lie in them, as `copy_stretches` takes them.

        A window that goes on in the next partition is one stretch in each.
        """
        begins = np.array(self._begins)
        targets = np.arange(len(places)) * width
        left = np.full(len(places), width)
        while len(places):
            of = np.searchsorted(begins, places, side="right") - 1
            counts = np.minimum(left, begins[of + 1] - places)
            found = np.stack([places - begins[of], counts, targets], axis=1)
            by_partition = np.argsort(of, kind="stable")
            numbers, firsts = np.unique(of[by_partition], return_index=True)
            yield from zip(numbers.tolist(), np.split(found[by_partition], firsts[1:]), strict=True)
            more = counts < left
            places, targets, left = (places + counts)[more], (targets + counts)[more], (left - counts)[more]
