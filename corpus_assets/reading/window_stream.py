"""Batches of windows, epoch after epoch, divided over ranks and workers, that can continue from any step."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.pieces import Piece
from corpus_assets.reading.torch_classes import IterableStyle, is_worker, worker
from corpus_assets.reading.window_dataset import WindowDataset

STATE_VERSION = 1
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _State(msgspec.Struct):
    version: int
    epoch: _Count
    samples: _Count
    of: dict[str, int | str | None]


class WindowStream(IterableStyle):
    """The batches of one rank. An iterable dataset of torch, whose items are batches (batch_size / ranks, length + 1).

    Epochs follow each other without a gap. Step s takes windows s * `batch_size` and so on of this list; rank r of R
    has those at places r, r + R, r + 2 R ... of the batch. Of a fixed number of `epochs` the last windows, too few for
    a batch, are left out (`unused`).

    The state is how many windows all ranks have had together. So a run can go on with another number of ranks,
    workers or windows in a batch: the list of windows stays the same. Workers of a DataLoader make whole batches in
    turns; use `loader`, so that the state counts the batches that were handed out, not those that were made.
    """

    def __init__(
        self, windows: WindowDataset, batch_size: int, *, rank: int = 0, ranks: int = 1, epochs: int | None = None
    ) -> None:
        if not 0 <= rank < ranks:
            raise ReadingError(f"rank is {rank} of {ranks}; valid: 0 to {ranks - 1}")
        if batch_size < 1 or batch_size % ranks:
            raise ReadingError(f"batch_size is {batch_size}; valid: a multiple of the {ranks} ranks")
        if epochs is not None and epochs < 1:
            raise ReadingError(f"epochs is {epochs}; valid: 1 or more, or None for no end")
        if not len(windows):
            raise ReadingError(f"the stream has no window of {windows.width} ids")
        self.windows = windows
        self.batch_size = batch_size
        self.rank, self.ranks = rank, ranks
        self._end = None if epochs is None else epochs * len(windows)
        self._done = 0
        self._from = 0

    @property
    def unused(self) -> int:
        """How many windows after the last whole batch of the last epoch are in none, counted from where it stands."""
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
        epochs, places = self.places(step, rank=rank)
        by_epoch = [
            self.windows.documents_of_epoch(epoch, places[epochs == epoch], raw=raw)
            for epoch in np.unique(epochs).tolist()
        ]
        return [window for windows in by_epoch for window in windows]

    def places(self, step: int, *, rank: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns the epoch of each window of a batch, and its place in the order of the epoch. step: as above."""
        rank = self.rank if rank is None else rank
        if not 0 <= rank < self.ranks:
            raise ReadingError(f"rank is {rank} of {self.ranks}; valid: 0 to {self.ranks - 1}")
        first = self._from + step * self.batch_size
        if first < 0 or (self._end is not None and first + self.batch_size > self._end):
            most = "" if self._end is None else f" to {(self._end - self._from) // self.batch_size - 1}"
            raise ReadingError(f"step is {step}; valid: {-(self._from // self.batch_size)}{most or ' or more'}")
        return self._samples(first, rank)

    def state_dict(self) -> dict[str, Any]:
        """Returns where the run stands: `epoch`, `samples` of it that all ranks have had, and what is read (`of`)."""
        if is_worker():
            raise ReadingError("a worker does not know where the run stands; valid: the stream of the main process")
        epoch, samples = divmod(self._done, len(self.windows))
        return {"version": STATE_VERSION, "epoch": epoch, "samples": samples, "of": self._identity()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state; `ReadingError` if it is of other windows or of another order."""
        try:
            given = msgspec.convert(dict(state), _State)
        except msgspec.ValidationError as error:
            raise ReadingError(f"no state of a window stream: {error}") from None
        if given.version != STATE_VERSION:
            raise ReadingError(f"state of version {given.version}; valid: {STATE_VERSION}")
        other = {key: said for key, said in self._identity().items() if given.of.get(key) != said}
        if other:
            was = {key: given.of.get(key) for key in other}
            raise ReadingError(f"the state is of {was}; these windows are of {other}")
        self._from = self._done = given.epoch * len(self.windows) + given.samples

    def _identity(self) -> dict[str, Any]:
        """Returns what the list of windows depends on."""
        windows, stream = self.windows, self.windows.stream
        return {
            "documents": len(stream),
            "ids": stream.ids,
            "layout": stream.layout_digest(),
            "before": windows.separators.before,
            "after": windows.separators.after,
            "width": windows.width,
            "step": windows.step,
            "seed": windows.seed,
        }

    def _batch(self, first: int) -> NDArray[Any]:
        """Returns this rank's part of the batch that begins at a sample, counted over all epochs."""
        epochs, places = self._samples(first, self.rank)
        parts = [self.windows.of_epoch(epoch, places[epochs == epoch]) for epoch in np.unique(epochs).tolist()]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _samples(self, first: int, rank: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Returns epochs and places of a rank's windows of the batch that begins at a sample."""
        epochs, places = np.divmod(np.arange(first + rank, first + self.batch_size, self.ranks), len(self.windows))
        return epochs, places
