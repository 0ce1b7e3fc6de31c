"""The windows of `width` units that slide over cleaned text; a unit is a code point, or a word when `by_word` is 1."""

import numpy as np
from numpy.typing import NDArray

from resources.jit import inlined


@inlined
def unit_end(text: NDArray[np.uint8], start: int, stop: int, by_word: int) -> int:
    """Where the unit that starts at byte `start` ends; the text ends at `stop`, words end at single spaces."""
    if not by_word:
        # From the lead byte and without branches: in mixed scripts they would be guessed wrong half of the time.
        lead = text[start]
        return start + 1 + int(lead >= 0xC0) + int(lead >= 0xE0) + int(lead >= 0xF0)
    end = start + 1
    while end < stop and text[end] != 32:
        end += 1
    return end


@inlined
def first_window(text: NDArray[np.uint8], start: int, stop: int, by_word: int, width: int) -> int:
    """Where the first window of text[start:stop] ends; -1 when it has fewer than `width` units."""
    end = start - by_word
    for _ in range(width):
        if end + by_word >= stop:
            return -1
        end = unit_end(text, end + by_word, stop, by_word)
    return end


@inlined
def next_window(text: NDArray[np.uint8], start: int, end: int, stop: int, by_word: int) -> tuple[int, int]:
    """The window after text[start:end], which does not reach `stop` yet."""
    after = unit_end(text, start, stop, by_word) + by_word
    return after, unit_end(text, end + by_word, stop, by_word)
