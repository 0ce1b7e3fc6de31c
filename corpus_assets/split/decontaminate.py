"""Finds the rows of train whose text is in the holdout. Memory is bounded by the holdout, never by train."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


def unique_digests(blocks: Iterable[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """Returns the sorted distinct SHA-256 digests of all blocks, shape (n, 32)."""
    held = [np.unique(np.ascontiguousarray(block).view("V32").ravel()) for block in blocks if len(block)]
    if not held:
        return np.empty((0, 32), dtype=np.uint8)
    return np.unique(np.concatenate(held)).view(np.uint8).reshape(-1, 32)


def contaminated(digests: Sequence[bytes], holdout: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Returns for each train row whether its text is in the holdout, by SHA-256 of the exact text.

    Rule: docs/formats/slimpajama.md "Train against holdout".
    """
    packed = np.ascontiguousarray(holdout).tobytes()
    known = {packed[start : start + 32] for start in range(0, len(packed), 32)}
    return np.fromiter((digest in known for digest in digests), dtype=np.bool_, count=len(digests))
