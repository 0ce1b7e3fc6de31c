"""Joins windows that are repeated into spans."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel


@ahead("int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], uint32[::1], int64[::1], int64")
@kernel
def cover(
    counts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    firsts: NDArray[np.int64],
    asked: NDArray[np.int64],
    offsets: NDArray[np.int64],
    answers: NDArray[np.uint32],
    values: NDArray[np.int64],
    length: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the spans of repeated windows of all texts in order, and how many each has (texts,).

    counts: passages of each text. Of each passage: sizes: its windows; firsts, asked: the window from which on, and for
    how many, `answers` from `offsets` on decide (no offset: none of these is repeated); all others are repeated, with
    the value in `values`. An answer is 0 for a window that is not repeated, else its value.

    Of each span (spans, 3): its first unit, one past its last, and the largest value of its windows.
    """
    spans = np.empty((64, 3), dtype=np.int64)
    found = np.zeros(counts.size, dtype=np.int64)
    total = passage = 0
    for text in range(counts.size):
        before, place = total, 0
        for number in range(passage, passage + counts[text]):
            first, after = firsts[number], firsts[number] + asked[number]
            window = 0
            while window < sizes[number]:
                value, run = values[number], 1
                if window < first:
                    run = min(first, sizes[number]) - window
                elif window >= after:
                    run = sizes[number] - window
                elif offsets[number] < 0:
                    value, run = 0, after - window
                else:
                    value = np.int64(answers[offsets[number] + window - first])
                if value > 0:
                    start, end = place + window, place + window + run - 1 + length
                    if total > before and start <= spans[total - 1, 1]:
                        spans[total - 1, 1] = end
                        spans[total - 1, 2] = max(spans[total - 1, 2], value)
                    else:
                        if total == spans.shape[0]:
                            more = np.empty((2 * total, 3), dtype=np.int64)
                            more[:total] = spans
                            spans = more
                        spans[total, 0], spans[total, 1], spans[total, 2] = start, end, value
                        total += 1
                window += run
            place += sizes[number]
        passage += counts[text]
        found[text] = total - before
    return spans[:total].copy(), found
