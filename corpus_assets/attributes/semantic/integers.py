"""Unit vectors in whole numbers, and exact products of them."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.int16]
"""Unit vectors times `LENGTH`, rounded, shape (n, dimensions)."""

LENGTH: Final = 2047
MOST_DIMENSIONS: Final = 1 << 14
"""Sums of products of two vectors are below (LENGTH + sqrt(dimensions) / 2)^2 < 2^24: float32 has all whole numbers
up to there."""

_SCALE: Final = 1 << 20
_BLOCK: Final = 1 << 12


def units(sums: NDArray[np.int64]) -> tuple[Vectors, NDArray[np.bool_]]:
    """Returns unit vectors of whole numbers in the directions of `sums` (n, d), and which have a direction (n,).

    Every step is exact, or rounded correctly by IEEE 754, so that the result is the same everywhere.
    """
    largest = np.abs(sums).max(axis=1, initial=0)
    shifts = np.maximum(np.frexp(largest.astype(np.float64))[1] - 20, 0).astype(np.int64)
    small = sums >> shifts[:, None]
    squares = (small * small).sum(axis=1)
    found = squares > 0
    norms = np.sqrt(np.where(found, squares, 1).astype(np.float64))
    scaled = np.rint(small.astype(np.float64) * LENGTH / norms[:, None]).astype(np.int16)
    return scaled, found


def in_whole_numbers(rows: NDArray[np.float64]) -> NDArray[np.int64]:
    """Returns rows (n, d) of finite numbers as whole ones, each scaled by its largest."""
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    return np.rint(rows / np.where(largest > 0, largest, 1.0) * _SCALE).astype(np.int64)


def norms(vectors: Vectors) -> NDArray[np.int64]:
    """Returns the squared length of each vector (n,)."""
    wide = vectors.astype(np.int64)
    found: NDArray[np.int64] = (wide * wide).sum(axis=1)
    return found


def products(ones: Vectors, others: Vectors) -> NDArray[np.float32]:
    """Returns the exact products (n, m) of vectors (n, d) and (m, d)."""
    return np.asarray(ones.astype(np.float32) @ others.astype(np.float32).T)


def cosines(ones: Vectors, others: Vectors) -> NDArray[np.float64]:
    """Returns the cosine similarities (n, m) of vectors (n, d) and (m, d)."""
    lengths = np.sqrt((norms(ones)[:, None] * norms(others)[None, :]).astype(np.float64))
    found: NDArray[np.float64] = products(ones, others).astype(np.float64) / np.maximum(lengths, 1.0)
    return found


def most_similar(ones: Vectors, others: Vectors) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Returns for each of `ones` (n, d) the most similar of `others` (m, d), and the cosine (n,); m is not 0.

    Of some that differ in the seventh digit any may be returned, the same one each time.
    """
    found = products(ones, others)
    squares, of_others = norms(ones), norms(others)
    near = found * (1 / np.sqrt(np.maximum(of_others, 1).astype(np.float64))).astype(np.float32)
    places = near.argmax(axis=1)
    lengths = np.sqrt((squares * of_others[places]).astype(np.float64))
    return places, found[np.arange(len(ones)), places].astype(np.float64) / np.maximum(lengths, 1.0)


def nearest(vectors: Vectors, centers: Vectors) -> NDArray[np.int64]:
    """Returns the number of the center nearest to each vector (n,); of equally near ones the first."""
    found = np.empty(len(vectors), dtype=np.int64)
    step: Any = max(_BLOCK * _BLOCK // max(len(centers), 1), 1)
    for start in range(0, len(vectors), step):
        found[start : start + step] = products(vectors[start : start + step], centers).argmax(axis=1)
    return found
