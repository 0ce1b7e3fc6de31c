"""Windows of equal length by number, in an order that a key decides."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from corpus_assets.reading.errors import ReadingError
from corpus_assets.reading.order import order_of
from corpus_assets.reading.pieces import Piece, pieces_of
from corpus_assets.reading.separated import Separators
from corpus_assets.reading.token_stream import TokenStream
from corpus_assets.reading.torch_classes import MapStyle


class WindowDataset(MapStyle):
    """Windows of `length` + 1 ids: those to read and, one further, those to predict. A map-style dataset of torch.

    The ids of all documents, or of those of one `source`, with their separators are one list, over all partitions.
    Window i begins at id i * `length` of it, so that neighbours share one id and every id but the first is predicted
    once; unless `shared`, at i * (`length` + 1). Documents without ids have no separator. What is left at the end is in
    no window (`unused`).

    `dataset[i]` is window i of the order of `seed` and `epoch`, or of the stream if `seed` is None: an array
    (length + 1,) of `dtype`. A DataLoader takes whole batches at once (`__getitems__`).
    """

    def __init__(
        self,
        stream: TokenStream,
        length: int,
        *,
        source: str | None = None,
        separators: Separators | None = None,
        shared: bool = True,
        seed: int | None = 0,
        epoch: int = 0,
        dtype: DTypeLike = np.int64,
    ) -> None:
        if length < 1:
            raise ReadingError(f"length is {length}; valid: 1 or more")
        if seed is not None and not 0 <= seed < 1 << 64:
            raise ReadingError(f"seed is {seed}; valid: 0 to 2^64 - 1, or None for the order of the stream")
        self.stream = stream
        self.separators = _known(separators or stream.separators)
        self.width = length + 1
        self.step = length if shared else length + 1
        self.seed = seed
        self.dtype = _holding(np.dtype(dtype), stream.dtype, self.separators)
        self.source = source
        self._ids = stream.separated(self.separators, source)
        self._windows = max(0, (len(self._ids) - self.width) // self.step + 1)
        self.set_epoch(epoch)

    def __len__(self) -> int:
        return self._windows

    @property
    def unused(self) -> int:
        """How many ids, separators included, are in no window: the last ones of the stream."""
        used = (self._windows - 1) * self.step + self.width if self._windows else 0
        return len(self._ids) - used

    def identity(self) -> dict[str, int | str | None]:
        """Returns what the windows and their order depend on, for states."""
        return {
            "documents": len(self.stream),
            "ids": self.stream.ids,
            "layout": self.stream.layout_digest(self.source),
            "before": self.separators.before,
            "after": self.separators.after,
            "width": self.width,
            "step": self.step,
            "seed": self.seed,
            **({} if self.source is None else {"source": self.source}),
        }

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch whose order `dataset[i]` follows."""
        if epoch < 0:
            raise ReadingError(f"epoch is {epoch}; valid: 0 or more")
        self.epoch = epoch

    def __getitem__(self, index: int) -> NDArray[Any]:
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} of {len(self)}")
        place = index % self._windows
        number = place if self.seed is None else order_of(self._windows, self.seed, self.epoch).one(place)
        return self._ids.window(number * self.step, self.width, self.dtype)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[place] for place in range(len(self)))

    def __getitems__(self, indices: Sequence[int] | NDArray[np.int64]) -> NDArray[Any]:
        """Returns several windows at once (indices, length + 1)."""
        return self.of_epoch(self.epoch, indices)

    def of_epoch(self, epoch: int, places: ArrayLike) -> NDArray[Any]:
        """Returns the windows at places of the order of an epoch (places, length + 1)."""
        return self._read(self.numbers(epoch, places))

    def windows(self, numbers: ArrayLike) -> NDArray[Any]:
        """Returns windows by their number in the stream, whatever the order (numbers, length + 1)."""
        return self._read(self._checked(numbers))

    def documents(self, index: int, *, raw: bool = True) -> list[Piece]:
        """Returns of which documents the ids of `dataset[index]` are, in their order.

        raw: whether raw files and rows are looked up, which takes milliseconds, in a stream opened by a corpus.yaml.
        """
        if not -len(self) <= index < len(self):
            raise IndexError(f"window {index} of {len(self)}")
        return self.documents_of_epoch(self.epoch, [index % self._windows], raw=raw)[0]

    def documents_of_epoch(self, epoch: int, places: ArrayLike, *, raw: bool = True) -> list[list[Piece]]:
        """Returns the same for the windows at places of the order of an epoch."""
        numbers = self.numbers(epoch, places).tolist()
        return pieces_of(self.stream, [list(self._ids.runs(one * self.step, self.width)) for one in numbers], raw=raw)

    def numbers(self, epoch: int, places: ArrayLike) -> NDArray[np.int64]:
        """Returns which windows of the stream are at places of the order of an epoch (places,)."""
        found = self._checked(places)
        return found if self.seed is None else order_of(self._windows, self.seed, epoch).at(found)

    def _checked(self, numbers: ArrayLike) -> NDArray[np.int64]:
        found = np.asarray(numbers, np.int64)
        if found.size and not 0 <= found.min() <= found.max() < len(self):
            raise IndexError(f"windows {found.min()} to {found.max()} of {len(self)}")
        return found

    def _read(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        return self._ids.windows(numbers * self.step, self.width, self.dtype)


def _known(separators: Separators | None) -> Separators:
    if separators is None:
        raise ReadingError(
            "the stream does not say which id ends a document; "
            "valid: separators=Separators(after=ID), Separators() for none, or a stream opened with a manifest"
        )
    return separators


def _holding(dtype: np.dtype[Any], ids: np.dtype[Any], separators: Separators) -> np.dtype[Any]:
    """Returns the type if it is an integer type that holds all ids; vocabularies have fewer than 2^31 entries."""
    if dtype.kind not in "iu" or not (np.can_cast(ids, dtype) or (ids == np.uint32 and dtype == np.int32)):
        raise ReadingError(f"dtype is {dtype}; valid: an integer type that holds {ids}")
    for id_ in separators:
        if id_ is not None and not 0 <= id_ <= np.iinfo(dtype).max:
            raise ReadingError(f"separator {id_} is not in 0 to {np.iinfo(dtype).max}, the range of {dtype}")
    return dtype
