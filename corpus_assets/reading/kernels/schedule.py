"""The source of each window of a phase, compiled (definition: `phases/schedule.py`)."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel

Ints = NDArray[np.int64]


@kernel
def draw(parts: Ints, credits: Ints, counts: Ints, sources: Ints, uses: Ints) -> None:
    """Writes the sources of the next windows, and how many windows of it came before each."""
    whole = parts.sum()
    for number in range(sources.size):
        source = _next(parts, credits, whole)
        sources[number], uses[number] = source, counts[source]
        counts[source] += 1


@kernel
def skip(parts: Ints, credits: Ints, counts: Ints, windows: int) -> None:
    """Passes over windows."""
    whole = parts.sum()
    for _ in range(windows):
        counts[_next(parts, credits, whole)] += 1


@inlined
def _next(parts: Ints, credits: Ints, whole: int) -> int:
    """Returns the source of the next window: the first of those that lack most."""
    most = 0
    for source in range(parts.size):
        credits[source] += parts[source]
        if credits[source] > credits[most]:
            most = source
    credits[most] -= whole
    return most
