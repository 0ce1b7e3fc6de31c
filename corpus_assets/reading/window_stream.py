"""Batches of windows, epoch after epoch, divided over ranks and workers, that can continue from any step."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np

from corpus_assets.reading.batches import Batches, Part, parts_of
from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.window_dataset import WindowDataset

STATE_VERSION = 1
_Count = Annotated[int, msgspec.Meta(ge=0)]


class _State(msgspec.Struct):
    version: int
    epoch: _Count
    samples: _Count
    of: dict[str, int | str | None]


class WindowStream(Batches):
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
        if epochs is not None and epochs < 1:
            raise ReadingError(f"epochs is {epochs}; valid: 1 or more, or None for no end")
        if not len(windows):
            raise ReadingError(f"the stream has no window of {windows.width} ids")
        end = None if epochs is None else epochs * len(windows)
        super().__init__(batch_size, rank, ranks, end)
        self.windows = windows

    def state_dict(self) -> dict[str, Any]:
        """Returns where the run stands: `epoch`, `samples` of it that all ranks have had, and what is read (`of`)."""
        epoch, samples = divmod(self._had(), len(self.windows))
        return {"version": STATE_VERSION, "epoch": epoch, "samples": samples, "of": self.windows.identity()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continues from a state; `ReadingError` if it is of other windows or of another order."""
        try:
            given = msgspec.convert(state, _State)
        except msgspec.ValidationError as error:
            raise ReadingError(f"no state of a window stream: {error}") from None
        if given.version != STATE_VERSION:
            raise ReadingError(f"state of version {given.version}; valid: {STATE_VERSION}")
        require_same(given.of, self.windows.identity())
        self._continue_from(given.epoch * len(self.windows) + given.samples)

    def _parts(self, first: int, rank: int) -> list[Part]:
        samples = np.arange(first + rank, first + self.batch_size, self.ranks)
        return list(parts_of(self.windows, samples, np.arange(len(samples))))


def require_same(was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raises `ReadingError` if a state is of other windows. was, now: what they depend on."""
    other = {key: said for key, said in now.items() if was.get(key) != said}
    if other:
        raise ReadingError(f"the state is of { {key: was.get(key) for key in other} }; these windows are of {other}")
