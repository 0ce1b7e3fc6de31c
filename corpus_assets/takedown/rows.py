"""Finds the rows of a shard that lists name, by their keys."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

KEY = np.dtype([("high", "<u8"), ("low", "<u8")])
"""A key of `keys.py` as two numbers."""

ROW_KEY = np.dtype([("row", "<u4"), ("high", "<u8"), ("low", "<u8")])
"""A key of the document in a row of a shard, from 0 in reading order."""


def packed(keys: Iterable[bytes]) -> NDArray[np.void]:
    """Returns keys (n,), each once, in the order of their bytes."""
    return np.frombuffer(b"".join(sorted(set(keys))), dtype=KEY)


def named_rows(keys: NDArray[np.void], listed: NDArray[np.void]) -> NDArray[np.uint32]:
    """Returns the rows (n,), ascending, of which a key is listed.

    keys: `ROW_KEY` (m,) of a shard. listed: `KEY` (k,), as `packed` gives them.
    """
    likely = keys[np.isin(keys["high"], listed["high"])]
    wanted = set(listed[np.isin(listed["high"], likely["high"])].tolist())
    rows = {row for row, high, low in likely.tolist() if (high, low) in wanted}
    return np.array(sorted(rows), dtype=np.uint32)
