"""Code points of UTF-8, and whether bytes are UTF-8."""

import numpy as np
from numpy.typing import NDArray

from resources.kernels.jit import inlined, kernel


@inlined
def decoded(text: NDArray[np.uint8], position: int) -> tuple[int, int]:
    """Returns the code point beyond ASCII that begins at `position` of valid UTF-8, and where the next one does."""
    lead, second = int(text[position]), int(text[position + 1]) & 0x3F
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second, position + 2
    third = int(text[position + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | second << 6 | third, position + 3
    fourth = int(text[position + 3]) & 0x3F
    return (lead & 0x07) << 18 | second << 12 | third << 6 | fourth, position + 4


@inlined
def encoded(point: int, text: NDArray[np.uint8], length: int) -> int:
    """Writes a code point at `length` as UTF-8; returns where it ends."""
    if point < 0x80:
        text[length] = point
        return length + 1
    if point < 0x800:
        text[length] = 0xC0 | point >> 6
        text[length + 1] = 0x80 | point & 0x3F
        return length + 2
    if point < 0x10000:
        text[length] = 0xE0 | point >> 12
        text[length + 1] = 0x80 | point >> 6 & 0x3F
        text[length + 2] = 0x80 | point & 0x3F
        return length + 3
    text[length] = 0xF0 | point >> 18
    text[length + 1] = 0x80 | point >> 12 & 0x3F
    text[length + 2] = 0x80 | point >> 6 & 0x3F
    text[length + 3] = 0x80 | point & 0x3F
    return length + 4


@kernel
def is_utf8(text: NDArray[np.uint8]) -> bool:
    """Returns whether bytes are UTF-8 (RFC 3629)."""
    size = text.size
    faulty = False
    for i in range(min(size, 3)):
        faulty |= _fault(text[i], text[max(i - 1, 0)] * (i > 0), text[0] * (i > 1), np.uint8(0))
    # Slices, so that no index can be negative and the loop is one of vectors.
    byte, before, second, third = text[3:], text[2:], text[1:], text
    for i in range(size - 3):
        faulty |= _fault(byte[i], before[i], second[i], third[i])
    # Past the end there is no byte that goes on with a code point.
    for i in range(max(size - 3, 0), size):
        faulty |= text[i] >= (0xC0, 0xE0, 0xF0)[size - 1 - i]
    return not faulty


@inlined
def _fault(byte: np.uint8, before: np.uint8, second: np.uint8, third: np.uint8) -> bool:
    """Returns whether a byte cannot follow the three before it, the nearest first."""
    goes_on = (byte & 0xC0) == 0x80
    must = (before >= 0xC0) | (second >= 0xE0) | (third >= 0xF0)
    never = (byte == 0xC0) | (byte == 0xC1) | (byte > 0xF4)
    overlong = ((before == 0xE0) & (byte < 0xA0)) | ((before == 0xF0) & (byte < 0x90))
    beyond = ((before == 0xED) & (byte > 0x9F)) | ((before == 0xF4) & (byte > 0x8F))
    return bool((goes_on != must) | never | overlong | beyond)
