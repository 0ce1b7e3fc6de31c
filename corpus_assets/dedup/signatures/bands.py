"""Locality-sensitive hashing: signatures cut into bands, one key per band (docs/formats/slimpajama.md "Bands")."""

import numpy as np
from numpy.typing import NDArray

NO_KEY = 0
"""Key of a row that is excluded from pairing."""

_ROWS_PER_BLOCK = 1 << 10
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_HALF = np.uint64(32)


def reference_band_key(signature: NDArray[np.uint32], band: int, rows: int) -> bytes:
    """Returns SlimPajama's key: the band's values as big-endian 64-bit integers, 8 * rows bytes (104 for 13 rows)."""
    return signature[band * rows : (band + 1) * rows].astype(">u8").tobytes()


def band_keys(
    signatures: NDArray[np.uint32], bands: int, rows: int, takes_part: NDArray[np.bool_] | None = None
) -> NDArray[np.uint64]:
    """Returns 64-bit keys (bands, n) of signatures (n, permutations): equal bands have equal keys.

    Different bands get equal keys with probability 2^-64. The number of a band is not in its keys, since bands are
    paired one by one. Rows where `takes_part` (n,) is false get `NO_KEY` everywhere, others never. `ValueError` if
    the bands need more values than a signature has.
    """
    count, permutations = signatures.shape
    if bands * rows > permutations:
        raise ValueError(f"{bands} bands of {rows} rows need {bands * rows} values, a signature has {permutations}")
    keys = np.empty((bands, count), dtype=np.uint64)
    for start in range(0, count, _ROWS_PER_BLOCK):
        block = signatures[start : start + _ROWS_PER_BLOCK, : bands * rows]
        values = np.ascontiguousarray(block.T, dtype=np.uint64).reshape(bands, rows, len(block))
        keys[:, start : start + len(block)] = _digests(values)
    keys[keys == NO_KEY] = 1
    if takes_part is not None:
        keys[:, ~takes_part] = NO_KEY
    return keys


def _digests(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Returns the digests (bands, n) of 32-bit values (bands, rows, n), two values per round.

    A round is a bijection of the state for given values, and of the values for a given state, so bands that differ in
    one round only never collide. Multipliers and shifts are those of splitmix64 (Steele, Lea and Flood 2014). They also
    spread a late difference over the leading bits, by which keys are bucketed later.
    """
    rows = values.shape[1]
    state = np.full((values.shape[0], values.shape[2]), rows, dtype=np.uint64)
    for row in range(0, rows, 2):
        state ^= values[:, row]
        if row + 1 < rows:
            state ^= values[:, row + 1] << _HALF
        _mix(state)
    return state


def _mix(state: NDArray[np.uint64]) -> None:
    """Applies splitmix64's finaliser in place."""
    for shift, multiplier in zip((30, 27), _MULTIPLIERS, strict=True):
        state ^= state >> np.uint64(shift)
        state *= multiplier
    state ^= state >> np.uint64(31)
