"""Masked documents as JSON, compiled (definition: `formats/masked/mds.py`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import ahead, inlined, kernel, read_only

_ZERO = np.uint8(ord("0"))
_TEXT = read_only("uint8")


@inlined
def _text(text: NDArray[np.uint8], out: NDArray[np.uint8], at: int) -> int:
    for i in range(text.size):
        out[at + i] = text[i]
    return at + text.size


@ahead(f"Tuple((int32[::1], uint8[::1], int64[::1])), UniTuple({_TEXT}, 5), uint8[::1], int64[::1]")
@kernel
def json_turns(
    documents: tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.int64]],
    texts: tuple[Any, ...],
    out: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    """Writes documents as runs of ids that are not learned and of ids that are, in decimal.

    documents: ids of all; whether each is learned, 0 for the first of a document, 1 for the last; ids of each document.
    texts: what stands before the first run, between ids, before a run that is learned, before a later one that is not,
    and at the end. out: room for all. ends: where each document ends there, filled in.
    """
    ids, learned, sizes = documents
    first, comma, to_learned, to_masked, last = texts
    at, place = 0, 0
    for document in range(sizes.size):
        at = _text(first, out, at)
        for i in range(sizes[document]):
            if i and learned[place] != learned[place - 1]:
                at = _text(to_learned, out, at) if learned[place] else _text(to_masked, out, at)
            elif i:
                at = _text(comma, out, at)
            left = np.uint32(ids[place])
            digits, power = 1, np.uint64(10)
            while left >= power:
                digits += 1
                power *= np.uint64(10)
            for digit in range(digits):
                quotient = np.uint32(left // np.uint32(10))
                out[at + digits - 1 - digit] = _ZERO + np.uint8(left - quotient * np.uint32(10))
                left = quotient
            at += digits
            place += 1
        at = _text(last, out, at)
        ends[document] = at
