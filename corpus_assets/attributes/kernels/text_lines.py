"""Counts over the lines of a text, for Gopher's rules."""

import numpy as np
from numpy.typing import NDArray

from corpus_assets.attributes.kernels.ngrams import number_stretches
from resources.kernels.jit import helper

_NEWLINE, _ELLIPSIS = 0x0A, 0x2026
_STAR, _DASH = 0x2A, 0x2D


@helper
def measure_text_lines(codes: NDArray[np.uint32], merged: bool) -> tuple[int, int, int, int, int]:
    """Returns the numbers of lines: all, with a bullet, with a final ellipsis, repeated; and the letters of these.

    merged: a run of newlines ends one line. A newline at either end of the text gives an empty line there.
    """
    most = 1
    for code in codes:
        most += code == _NEWLINE
    starts, ends = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.int32)
    lines = bullets = ellipses = start = 0
    for place in range(codes.size + 1):
        if place < codes.size and codes[place] != _NEWLINE:
            continue
        if start < place:
            bullets += (codes[start] == _STAR) | (codes[start] == _DASH)
            ellipses += codes[place - 1] == _ELLIPSIS
        if not merged or start < place or start == 0 or place == codes.size:
            starts[lines], ends[lines] = start, place
            lines += 1
        start = place + 1
    numbers, counts, _ = number_stretches(codes, starts[:lines], ends[:lines])
    again = letters = 0
    for line in range(lines):
        if counts[numbers[line]] > 1:
            again += 1
            letters += ends[line] - starts[line]
    return lines, bullets, ellipses, again, letters
