"""Joins windows that are repeated into spans."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, helper, kernel

Passages = NDArray[np.int64]
Number = int | np.int64


@ahead("int64[::1], int64[:,::1], uint32[::1], int64")
@kernel
def cover(
    counts: NDArray[np.int64], passages: Passages, answers: NDArray[np.uint32], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the spans of repeated windows of all texts in order, and how many each has (texts,).

    counts: passages of each text. Of each passage (n, 5): its windows; the window from which on, and for how many,
    `answers` decide, and from which answer on (-1: none of these is repeated); the value of all other windows, which
    are repeated unless it is 0. An answer is 0 for a window that is not repeated, else its value.

    Of each span (spans, 3): its first unit, one past its last, and the largest value of its windows.
    """
    spans = np.empty((64, 3), dtype=np.int64)
    found = np.zeros(counts.size, dtype=np.int64)
    total = passage = 0
    for text in range(counts.size):
        first, place = total, 0
        for number in range(passage, passage + counts[text]):
            window = np.int64(0)
            while window < passages[number, 0]:
                run, value = _run(passages[number], answers, window)
                if value > 0:
                    span = (place + window, place + window + run - 1 + length, value)
                    spans, total = _with(spans, first, total, span)
                window += run
            place += passages[number, 0]
        passage += counts[text]
        found[text] = total - first
    return spans[:total].copy(), found


@helper
def _run(passage: NDArray[np.int64], answers: NDArray[np.uint32], window: Number) -> tuple[Number, Number]:
    """Returns how many windows from one on have the same value, and this value."""
    windows, first, asked, offset, value = passage
    if window < first:
        return min(first, windows) - window, value
    if window >= first + asked:
        return windows - window, value
    if offset < 0:
        return first + asked - window, np.int64(0)
    return 1, np.int64(answers[offset + window - first])


@helper
def _with(
    spans: NDArray[np.int64], first: int, total: int, span: tuple[Number, Number, Number]
) -> tuple[NDArray[np.int64], int]:
    """Returns spans with one more, and their number: it is united with the last of the text if they touch."""
    start, end, value = span
    if total > first and start <= spans[total - 1, 1]:
        spans[total - 1, 1] = end
        spans[total - 1, 2] = max(spans[total - 1, 2], value)
        return spans, total
    if total == spans.shape[0]:
        more = np.empty((2 * total, 3), dtype=np.int64)
        more[:total] = spans
        spans = more
    spans[total, 0], spans[total, 1], spans[total, 2] = start, end, value
    return spans, total + 1
