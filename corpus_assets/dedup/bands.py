"""Locality-sensitive hashing: signatures cut into bands, one key per band (specs/slimpajama.md section 5)."""

import numpy as np
import xxhash
from numpy.typing import NDArray

NO_KEY = 0
"""Key of a row that takes no part in pairing."""


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

    A key is the XXH3 digest of the band's values as big-endian uint32; its number is not in it, since bands
    are paired one by one. Rows where `takes_part` (n,) is false get `NO_KEY` everywhere. `ValueError` if the
    bands need more values than a signature has.
    """
    count, permutations = signatures.shape
    if bands * rows > permutations:
        raise ValueError(f"{bands} bands of {rows} rows need {bands * rows} values, a signature has {permutations}")
    keys = np.empty((bands, count), dtype=np.uint64)
    for band in range(bands):
        values = signatures[:, band * rows : (band + 1) * rows].astype(">u4")
        raw = values.view(f"V{4 * rows}").ravel().tolist()
        keys[band] = np.fromiter(map(xxhash.xxh3_64_intdigest, raw), dtype=np.uint64, count=count)
    keys[keys == NO_KEY] = 1
    if takes_part is not None:
        keys[:, ~takes_part] = NO_KEY
    return keys
