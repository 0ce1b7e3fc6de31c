"""Windows cut from documents, and windows as JSON lines, compiled (definitions: `amber/runs.py`, `amber/lines.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, kernel, read_only

_DATA, _TEXT = ("uint16", "uint32"), read_only("uint8")
_ZERO = np.uint8(ord("0"))
_COMMA, _SPACE = np.uint8(ord(",")), np.uint8(ord(" "))


@ahead("int64[::1], int64, int64[::1], int64[::1]")
@kernel
def starts_without_wrap(sizes: NDArray[np.int64], window: int, state: NDArray[np.int64], out: NDArray[np.int64]) -> int:
    """Writes where the windows begin that are full with these documents; a window begins where a document does.

    sizes: ids of each document, separators included. state: ids before these documents, ids in the window so far, and
    where that window begins; it is moved on. out: (documents,). Returns the number of windows.
    """
    place, filled, start, found = state[0], state[1], state[2], 0
    for size in sizes:
        if filled == 0:
            start = place
        filled += size
        place += size
        if filled >= window:
            out[found] = start
            found += 1
            filled = 0
    state[0], state[1], state[2] = place, filled, start
    return found


@ahead(
    *(
        f"Tuple(({read_only(t)}, int64[::1], int64[::1])), UniTuple(int64[::1], 2), int64[::1], {t}[:, ::1]"
        for t in _DATA
    )
)
@kernel
def gather(
    documents: tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]],
    separators: tuple[NDArray[np.int64], NDArray[np.int64]],
    starts: NDArray[np.int64],
    out: NDArray[Any],
) -> None:
    """Writes the ids of windows, as far as these documents hold them.

    documents: the ids of all; where those of each begin there; where each ends in the ids with separators, counted from
    the first of them. separators: the ids before and after each. starts: where each window begins there, below 0 if it
    begins before. out: (windows, ids); what is not held stays as it is.
    """
    data, begins, ends = documents
    before, after = separators
    around = before.size + after.size
    total = ends[-1] if ends.size else 0
    for row in range(starts.size):
        place = max(starts[row], 0)
        filled = place - starts[row]
        document = np.searchsorted(ends, place, side="right")
        while filled < out.shape[1] and place < total:
            first = ends[document - 1] if document else 0
            size = ends[document] - first
            inside = place - first
            last = min(size, inside + out.shape[1] - filled)
            text_end = before.size + size - around
            while inside < last:
                if inside < before.size:
                    out[row, filled] = before[inside]
                    inside += 1
                    filled += 1
                elif inside < text_end:
                    count = min(last, text_end) - inside
                    source = begins[document] + inside - before.size
                    for i in range(count):
                        out[row, filled + i] = data[source + i]
                    inside += count
                    filled += count
                else:
                    out[row, filled] = after[inside - text_end]
                    inside += 1
                    filled += 1
            place = first + inside
            document += 1


@ahead(*(f"{t}[:, ::1], int64[::1], Tuple(({_TEXT}, {_TEXT}, int64[::1])), uint8[::1], int64[::1]" for t in _DATA))
@kernel
def json_lines(
    windows: NDArray[Any],
    kinds: NDArray[np.int64],
    texts: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]],
    out: NDArray[np.uint8],
    line_ends: NDArray[np.int64],
) -> None:
    """Writes windows as lines: a head, the ids in decimal with `, ` between them, the tail of the window's kind.

    texts: the head; the tails of all kinds, one after another; where each ends. out: room for all lines. line_ends:
    where each line ends there, filled in.
    """
    head, tails, tail_ends = texts
    filled = 0
    for line in range(windows.shape[0]):
        for i in range(head.size):
            out[filled + i] = head[i]
        filled += head.size
        for place in range(windows.shape[1]):
            if place:
                out[filled] = _COMMA
                out[filled + 1] = _SPACE
                filled += 2
            left = np.uint32(windows[line, place])
            digits, power = 1, np.uint64(10)
            while left >= power:
                digits += 1
                power *= np.uint64(10)
            for i in range(digits):
                quotient = np.uint32(left // np.uint32(10))
                out[filled + digits - 1 - i] = _ZERO + np.uint8(left - quotient * np.uint32(10))
                left = quotient
            filled += digits
        tail = tail_ends[kinds[line] - 1] if kinds[line] else 0
        for i in range(tail, tail_ends[kinds[line]]):
            out[filled] = tails[i]
            filled += 1
        line_ends[line] = filled
