"""Token lists of different lengths in two flat arrays, so that a batch is no list of Python objects."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]

BLOCK_TOKENS = 1 << 19
"""Ids in a block of rows: how much is made at once."""


@dataclass(frozen=True)
class Ragged:
    """n token lists: `ids` int32 (total,), and int64 `offsets` (n + 1,); list i is `ids[offsets[i]:offsets[i + 1]]`."""

    ids: Ids
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> Ids:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[index] for index in range(len(self)))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of ids of each list."""
        return np.diff(self.offsets)

    def without_firsts(self) -> "Ragged":
        """Returns the lists without the first id of each; none may be empty."""
        return Ragged(np.delete(self.ids, self.offsets[:-1]), self.offsets - np.arange(len(self.offsets)))

    @classmethod
    def of(cls, lists: Iterable[Sequence[int] | NDArray[np.integer]]) -> "Ragged":
        """Returns the lists one after another."""
        arrays = [np.asarray(ids, np.int32) for ids in lists]
        ids = np.concatenate(arrays) if arrays else np.empty(0, np.int32)
        return cls(ids, np.cumsum([0, *map(len, arrays)], dtype=np.int64))
