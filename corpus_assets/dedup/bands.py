"""Locality-sensitive hashing: signatures cut into bands, one key per band (specs/slimpajama.md section 5)."""

import numpy as np
from numpy.typing import NDArray

NO_KEY = 0
"""Key of a row that takes no part in pairing."""

_ROWS_PER_BLOCK = 1 << 10
_MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_HALF = np.uint64(32)


def band_layout(threshold: float, permutations: int) -> tuple[int, int]:
    """(bands, rows per band) with the least false positives plus false negatives around a Jaccard threshold.

    Over all b and r with b * r <= permutations, minimises the integral of 1 - (1 - s^r)^b over [0, threshold]
    plus that of (1 - s^r)^b over [threshold, 1], weighted alike; of equals the first, b before r. Same choice
    as datasketch's optimiser: 0.8 and 128 give (9, 13). `ValueError` for a threshold outside 0 to 1.
    """
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold is {threshold}; valid: 0 to 1")
    # Gauss-Legendre with n nodes is exact up to degree 2n - 1, and the integrands have degree b * r.
    nodes, weights = np.polynomial.legendre.leggauss(permutations // 2 + 1)
    below, above = threshold * (nodes + 1) / 2, threshold + (1 - threshold) * (nodes + 1) / 2
    layouts = [(b, r) for b in range(1, permutations + 1) for r in range(1, permutations // b + 1)]

    def error(layout: tuple[int, int]) -> float:
        bands, rows = layout
        false_positives = threshold / 2 * weights @ (1 - (1 - below**rows) ** bands)
        false_negatives = (1 - threshold) / 2 * weights @ (1 - above**rows) ** bands
        return float(false_positives + false_negatives)

    return min(layouts, key=error)


def reference_band_key(signature: NDArray[np.uint32], band: int, rows: int) -> bytes:
    """SlimPajama's key: the band's values as big-endian 64-bit integers, 8 * rows bytes (104 for 13 rows)."""
    return signature[band * rows : (band + 1) * rows].astype(">u8").tobytes()


def band_keys(
    signatures: NDArray[np.uint32], bands: int, rows: int, takes_part: NDArray[np.bool_] | None = None
) -> NDArray[np.uint64]:
    """64-bit keys of shape (bands, n) from signatures (n, permutations): equal band, equal key.

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
    """Digests (bands, n) of 32-bit values (bands, rows, n), two values per round.

    A round is one-to-one in the state and in the values it takes up, so bands that differ in one round only never
    collide. Multipliers and shifts: splitmix64's (Steele, Lea and Flood 2014), which also spread a last difference
    over the leading bits, by which keys are later bucketed.
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
    """splitmix64's finaliser, in place."""
    for shift, multiplier in zip((30, 27), _MULTIPLIERS, strict=True):
        state ^= state >> np.uint64(shift)
        state *= multiplier
    state ^= state >> np.uint64(31)
