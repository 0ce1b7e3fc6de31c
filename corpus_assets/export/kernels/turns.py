"""Masked documents as JSON, compiled (definition: `formats/masked/mds.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel, read_only

HEAD = 4
"""Bytes before a document that say how long it is."""
SLACK = 8
"""Bytes after the last document that are written to."""
_FOUR_DIGITS, _EIGHT_DIGITS = np.uint32(10_000), np.uint32(100_000_000)
_FOURS = np.frombuffer("".join(f"{number:04}" for number in range(10_000)).encode(), "<u4").astype(np.uint64)
"""The text of every number of four digits, the first of them lowest."""
_COMMA, _SPACE = np.uint8(ord(",")), np.uint8(ord(" "))
_TEXT = read_only("uint8")


@inlined
def _text(text: NDArray[np.uint8], out: NDArray[np.uint8], at: int) -> int:
    for i in range(text.size):
        out[at + i] = text[i]
    return at + text.size


@inlined
def _eight(number: Any, leave: Any, out: NDArray[np.uint8], at: int) -> int:
    """Writes a number of up to eight digits as eight without the first `leave`; bytes after it are overwritten."""
    high = number // _FOUR_DIGITS
    digits = _FOURS[high] | (_FOURS[number - high * _FOUR_DIGITS] << np.uint64(32))
    digits >>= np.uint64(8) * np.uint64(leave)
    for place in range(8):
        out[at + place] = np.uint8(digits & np.uint64(0xFF))
        digits >>= np.uint64(8)
    return int(at + 8 - leave)


@inlined
def _number(number: int, out: NDArray[np.uint8], at: int) -> int:
    left = np.uint32(number)
    if left < _EIGHT_DIGITS:
        few = (left < 10) + (left < 100) + (left < 1_000) + (left < 10_000)
        return _eight(left, few + (left < 100_000) + (left < 1_000_000) + (left < 10_000_000), out, at)
    high = left // _EIGHT_DIGITS
    at = _eight(high, 7 if high < 10 else 6, out, at)
    return _eight(left - high * _EIGHT_DIGITS, 0, out, at)


@ahead(f"Tuple((int32[::1], uint8[::1], int64[::1])), UniTuple({_TEXT}, 4), uint8[::1], int64[::1]")
@kernel
def json_turns(
    documents: tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]],
    texts: tuple[Any, ...],
    out: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    """Writes documents as runs of ids that are not learned and of ids that are, in decimal, each after its length.

    documents: ids of all; whether each is learned, 0 for the first of a document, 1 for the last; ids of each document.
    texts: what stands before the first run, before a run that is learned, before a later one that is not, and at the
    end. out: room for all, and `SLACK`. ends: where each document ends there, filled in. The length is of `HEAD` bytes,
    the lowest first.
    """
    ids, learned, sizes = documents
    first, to_learned, to_masked, last = texts
    at, place = 0, 0
    for document in range(sizes.size):
        begin = at
        at = _text(first, out, at + HEAD)
        for i in range(sizes[document]):
            if i and learned[place] != learned[place - 1]:
                at = _text(to_learned, out, at) if learned[place] else _text(to_masked, out, at)
            elif i:
                out[at], out[at + 1] = _COMMA, _SPACE
                at += 2
            at = _number(ids[place], out, at)
            place += 1
        at = _text(last, out, at)
        ends[document] = at
        size = at - begin - HEAD
        for i in range(HEAD):
            out[begin + i] = np.uint8(size & 0xFF)
            size >>= 8
