"""The windows of `width` units that slide over cleaned text; a unit is a code point, or a word when `by_word` is 1."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel

_RUN = 32


@inlined
def unit_end(text: NDArray[np.uint8], start: int, stop: int, by_word: int) -> int:
    """Returns the end of the unit that starts at byte `start`; the text ends at `stop`, words end at single spaces."""
    if not by_word:
        # From the lead byte and without branches, half of which would be mispredicted in mixed scripts.
        lead = text[start]
        return start + 1 + int(lead >= 0xC0) + int(lead >= 0xE0) + int(lead >= 0xF0)
    end = start + 1
    while end < stop and text[end] != 32:
        end += 1
    return end


@kernel
def unit_starts(text: NDArray[np.uint8], start: int, stop: int, by_word: int, starts: NDArray[np.int64]) -> int:
    """Writes the starts of the units of text[start:stop], as many as fit; returns their number.

    If there is room, the start of a unit past the end follows, so that unit i ends at starts[i + 1] - by_word.
    """
    if start >= stop:
        return 0
    starts[0] = start
    found = int(np.int64(1))  # not a literal, for which numba would compile a variant
    position = start + 1
    while position < stop and found < starts.size:
        steps = min(stop - position, starts.size - found, _RUN)
        if by_word:
            found = int(_spaces(text, (position, steps), starts, found))
        elif steps == _RUN and _is_ascii(text, position):
            for i in range(_RUN):
                starts[found + i] = position + i
            found += _RUN
        else:
            found = int(_leads(text, (position, steps), starts, found))
        position += steps
    if position == stop and found < starts.size:
        starts[found] = stop + by_word
        found += 1
    return found


@inlined
def _is_ascii(text: NDArray[np.uint8], position: int) -> bool:
    """Returns whether a run of bytes from `position` on is ASCII."""
    # Unsigned indices, here and below, need no check for negative values.
    first = np.uint64(position)
    seen = np.uint8(0)
    for i in range(_RUN):
        seen |= text[first + np.uint64(i)]
    return bool(seen < 0x80)


@inlined
def _leads(text: NDArray[np.uint8], run: tuple[int, int], starts: NDArray[np.int64], found: int) -> np.int64:
    """Writes the starts of code points in a run (position, bytes), from starts[found] on; returns their number."""
    position, count = np.uint64(run[0]), np.uint64(found)
    for _ in range(run[1]):
        starts[count] = position
        count += np.uint64(text[position] < 0x80) | np.uint64(text[position] >= 0xC0)
        position += np.uint64(1)
    return np.int64(count)


@inlined
def _spaces(text: NDArray[np.uint8], run: tuple[int, int], starts: NDArray[np.int64], found: int) -> np.int64:
    """Writes the starts of words after spaces, like `_leads` for code points."""
    position, count = np.uint64(run[0]), np.uint64(found)
    for _ in range(run[1]):
        is_space = text[position] == 32
        position += np.uint64(1)
        starts[count] = position
        count += np.uint64(is_space)
    return np.int64(count)
