"""Finds the rows of a shard that lists name by their keys."""

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
    """Returns the rows (n,), ascending, with a listed key.

    keys: `ROW_KEY` (m,) of a shard. listed: `KEY` (k,), as `packed` gives them.
    """
    return named(keys, listed)[0]


def named(keys: NDArray[np.void], listed: NDArray[np.void]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Returns the rows with a listed key, and the positions in the list of the keys that rows have, ascending.

    keys, listed: as `named_rows` takes them.
    """
    likely = keys[np.isin(keys["high"], listed["high"])]
    places = np.flatnonzero(np.isin(listed["high"], likely["high"]))
    wanted = {tuple(key): place for key, place in zip(listed[places].tolist(), places.tolist(), strict=True)}
    found = [(row, wanted[high, low]) for row, high, low in likely.tolist() if (high, low) in wanted]
    rows, met = ({pair[side] for pair in found} for side in (0, 1))
    return np.array(sorted(rows), dtype=np.uint32), np.array(sorted(met), dtype=np.uint32)
