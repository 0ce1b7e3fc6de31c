"""Batches of windows of a list that has a fixed order, divided over ranks and workers; and what each batch holds."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.pieces import Piece
from corpus_assets.reading.torch_classes import IterableStyle, is_worker, worker
from corpus_assets.reading.window_dataset import WindowDataset

COUNTED = 1 << 62
"""More windows, epochs or ids than anybody counts; numbers up to it fit into 64 bits."""


class Part(NamedTuple):
    """Windows of a batch that are of one dataset and epoch. places: of its order. rows: of the batch. Both (n,)."""

    windows: WindowDataset
    epoch: int
    places: NDArray[np.int64]
    rows: NDArray[np.int64]


class Drawn(NamedTuple):
    """Which window a row of a batch is. number: in the stream, or among the windows of its source."""

    source: str | None
    epoch: int
    number: int


class Batches(IterableStyle):
    """The batches of one rank; a subclass says which windows the list has (`_parts`) and where it ends.

    Step s takes windows s * `batch_size` and so on of the list; rank r of R has those at places r, r + R, r + 2 R ...
    of the batch. How many windows all ranks have had together is where the run stands.
    """

    def __init__(self, batch_size: int, rank: int, ranks: int, end: int | None) -> None:
        if not 0 <= rank < ranks:
            raise ReadingError(f"rank is {rank} of {ranks}; valid: 0 to {ranks - 1}")
        if batch_size < 1 or batch_size % ranks:
            raise ReadingError(f"batch_size is {batch_size}; valid: a multiple of the {ranks} ranks")
        self.batch_size = batch_size
        self.rank, self.ranks = rank, ranks
        self._end = end
        self._done = self._from = 0

    @property
    def unused(self) -> int:
        """How many windows after the last whole batch are in none, counted from where it stands."""
        return 0 if self._end is None else (self._end - self._done) % self.batch_size

    def __iter__(self) -> Iterator[NDArray[Any]]:
        number, count = worker()
        first = self._done + number * self.batch_size
        while self._end is None or first + self.batch_size <= self._end:
            batch = self._batch(first)
            first += count * self.batch_size
            if not is_worker():
                self._done = first
            yield batch

    def loader(self, workers: int = 0, **options: Any) -> Iterator[Any]:
        """Yields the batches as tensors, made by workers of a torch DataLoader; the state counts those yielded.

        options: of the DataLoader, such as `pin_memory`.
        """
        from torch.utils.data import DataLoader

        for batch in DataLoader(self, batch_size=None, num_workers=workers, **options):
            if workers:
                self._done += self.batch_size
            yield batch

    def documents(self, step: int, *, rank: int | None = None, raw: bool = True) -> list[list[Piece]]:
        """Returns of which documents the ids of each window of a batch are, in their order.

        step: from 0 on; counted from the state that was loaded, if one was: -1 is the last batch before it. rank: by
        default this stream's. raw: as for `WindowDataset.documents`. `ReadingError` for a step that there is not.
        """
        found: dict[int, list[Piece]] = {}
        for part in self._parts_of_step(step, rank):
            pieces = part.windows.documents_of_epoch(part.epoch, part.places, raw=raw)
            found |= dict(zip(part.rows.tolist(), pieces, strict=True))
        return [found[row] for row in sorted(found)]

    def drawn(self, step: int, *, rank: int | None = None) -> list[Drawn]:
        """Returns which windows a batch has. step, rank: as for `documents`."""
        found: dict[int, Drawn] = {}
        for windows, epoch, places, rows in self._parts_of_step(step, rank):
            numbers = windows.numbers(epoch, places).tolist()
            found |= {
                row: Drawn(windows.source, epoch, number) for row, number in zip(rows.tolist(), numbers, strict=True)
            }
        return [found[row] for row in sorted(found)]

    @abstractmethod
    def _parts(self, first: int, rank: int) -> list[Part]:
        """Returns the windows of a rank in the batch that begins at a window of the list."""

    def _parts_of_step(self, step: int, rank: int | None) -> list[Part]:
        rank = self.rank if rank is None else rank
        if not 0 <= rank < self.ranks:
            raise ReadingError(f"rank is {rank} of {self.ranks}; valid: 0 to {self.ranks - 1}")
        first = self._from + step * self.batch_size
        end = COUNTED if self._end is None else self._end
        if first < 0 or first + self.batch_size > end:
            least, most = -(self._from // self.batch_size), (end - self._from) // self.batch_size - 1
            valid = f"{least} or more" if self._end is None and first < 0 else f"{least} to {most}"
            raise ReadingError(f"step is {step}; valid: {valid}")
        return self._parts(first, rank)

    def _batch(self, first: int) -> NDArray[Any]:
        """Returns this rank's part of the batch that begins at a window of the list."""
        parts = self._parts(first, self.rank)
        read = [part.windows.of_epoch(part.epoch, part.places) for part in parts]
        if len(read) == 1:
            return read[0]
        out = np.empty((self.batch_size // self.ranks, read[0].shape[1]), read[0].dtype)
        for part, ids in zip(parts, read, strict=True):
            out[part.rows] = ids
        return out

    def _had(self) -> int:
        """Returns how many windows all ranks have had; `ReadingError` in a worker."""
        if is_worker():
            raise ReadingError("a worker does not know where the run stands; valid: the stream of the main process")
        return self._done

    def _continue_from(self, had: int) -> None:
        """Goes on after so many windows; `ReadingError` for more than anybody has had."""
        if had > COUNTED:
            raise ReadingError(f"the state is of {had:,} windows; valid: up to 2^62")
        self._from = self._done = had


def parts_of(windows: WindowDataset, uses: NDArray[np.int64], rows: NDArray[np.int64]) -> Iterator[Part]:
    """Yields the parts of windows that are read epoch after epoch. uses: which ones, counted over all epochs (n,)."""
    epochs, places = np.divmod(uses, len(windows))
    for epoch in np.unique(epochs).tolist():
        chosen = epochs == epoch
        yield Part(windows, epoch, places[chosen], rows[chosen])
