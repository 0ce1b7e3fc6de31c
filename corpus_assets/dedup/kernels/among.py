"""Similar documents among those of one cluster (corpus_assets/dedup/similarity/among.py)."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.dedup.kernels.compare import agreeing_bits
from resources.kernels.jit import ahead, kernel

Numbers = NDArray[np.int64]

_SLACK = 1e-6
"""Takes the error of a product of floats off a number of shingles, so that it is never too large."""


@ahead("uint64[:, ::1], int64, int64, boolean[::1]")
@kernel
def near(sketches: NDArray[np.uint64], least: int, fixed: int, out: NDArray[np.bool_]) -> None:
    """Marks in `out` (n,) the sketches (n, words) that agree in `least` bits or more with another.

    The first `fixed` are not compared with each other.
    """
    words = sketches.shape[1]
    # Most pairs are unlike, which two fifths of their bits nearly always prove.
    part = max(words * 2 // 5, 1)
    enough = least - 64 * (words - part)
    for later in range(max(fixed, 1), sketches.shape[0]):
        for first in range(later):
            if out[first] and out[later]:
                continue
            if agreeing_bits(sketches[first, :part], sketches[later, :part]) < enough:
                continue
            if agreeing_bits(sketches[first], sketches[later]) >= least:
                out[first] = True
                out[later] = True


@ahead("int64, UniTuple(int64[::1], 5), UniTuple(int64[::1], 4), uint64[:, ::1], Tuple((float64, int64))")
@kernel
def candidates(
    row: int,
    index: tuple[Numbers, Numbers, Numbers, Numbers, Numbers],
    held: tuple[Numbers, Numbers, Numbers, Numbers],
    sketches: NDArray[np.uint64],
    likeness: tuple[float, int],
) -> int:
    """Writes the held rows that may be similar to a row; returns their number.

    `index` is (starts, runs, first, filled, sizes): the shingles of row i are `starts[i]` to `starts[i + 1]`, rarest
    first, each as the number of its run; the rows held for a run are those from `first[run]`, `filled[run]` of them;
    `sizes` are those of whole sets. `held` is (rows, places, seen, out): the rows of all runs, the places of the
    shingle in them, the last row (n,) for which each was seen, and the rows (n,) that are found. `likeness` is the
    similarity, and in how many bits the `sketches` (n, words) must agree.
    """
    starts, runs, first, filled, sizes = index
    rows, places, seen, out = held
    threshold, least = likeness
    count = 0
    for entry in range(starts[row], starts[row + 1]):
        place, run = entry - starts[row], runs[entry]
        for position in range(first[run], first[run] + filled[run]):
            other = rows[position]
            if seen[other] == row:
                continue
            # All sets have their shingles in one order: no other that both have comes before this one.
            seen[other] = row
            common = int(np.ceil(threshold / (1.0 + threshold) * (sizes[row] + sizes[other]) - _SLACK))
            if place > sizes[row] - common or places[position] > sizes[other] - common:
                continue
            if agreeing_bits(sketches[row], sketches[other]) >= least:
                out[count] = other
                count += 1
    return count


@ahead("int64, UniTuple(int64[::1], 5), UniTuple(int64[::1], 4)")
@kernel
def hold(
    row: int,
    index: tuple[Numbers, Numbers, Numbers, Numbers, Numbers],
    held: tuple[Numbers, Numbers, Numbers, Numbers],
) -> None:
    """Adds a row to those that `candidates` finds."""
    starts, runs, first, filled, _ = index
    rows, places, _, _ = held
    for entry in range(starts[row], starts[row + 1]):
        run = runs[entry]
        position = first[run] + filled[run]
        rows[position], places[position] = row, entry - starts[row]
        filled[run] += 1
