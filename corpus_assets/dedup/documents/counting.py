"""Values counted block by block."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Whole = TypeVar("Whole", np.uint64, np.int64)


def counted(
    values: NDArray[Whole], counts: NDArray[np.int64], more: NDArray[Whole]
) -> tuple[NDArray[Whole], NDArray[np.int64]]:
    """Returns the different values, ascending, and how often each came: as counted before, and once for each more."""
    found, times = np.unique(more, return_counts=True)
    every, places = np.unique(np.concatenate([values, found]), return_inverse=True)
    total = np.bincount(places, np.concatenate([counts, times]), len(every)).astype(np.int64)
    return every, total
