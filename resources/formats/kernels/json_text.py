"""The contents of JSON strings as UTF-8."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import encoded, is_utf8
from resources.kernels.jit import ahead, helper, inlined, kernel, read_only
from resources.kernels.vectors import RUN, first_bit, not_zero

UNUSUAL = -1
"""Returned where a JSON library must decide: faults, halves of surrogate pairs, other keys."""

_QUOTE, _BACKSLASH, _SOLIDUS, _NEWLINE = 0x22, 0x5C, 0x2F, 0x0A


@ahead(f"{read_only('uint8')}, uint8[::1], int64[::1]")
@kernel
def document_texts(lines: NDArray[np.uint8], texts: NDArray[np.uint8], bounds: NDArray[np.int64]) -> int:
    """Writes the texts of documents, as this project writes their lines, into `texts` (bytes of `lines`,) in UTF-8.

    `bounds` (lines + 1,) becomes where each starts and the last ends. Returns the number of lines, or UNUSUAL.
    """
    number, length, position = 0, 0, 0
    special = np.empty(RUN, dtype=np.uint8)
    bounds[0] = 0
    if not is_utf8(lines):
        return UNUSUAL
    while position < lines.size:
        position = _text_start(lines, position)
        if position == UNUSUAL or number + 1 >= bounds.size:
            return UNUSUAL
        position, length = _unescaped(lines, position, (texts, special), length)
        if position == UNUSUAL:
            return UNUSUAL
        while position < lines.size and lines[position] != _NEWLINE:
            position += 1
        position += 1
        number += 1
        bounds[number] = length
    return number


@inlined
def _text_start(lines: NDArray[np.uint8], position: int) -> int:
    """Returns where the text of the document of a line begins, which starts at `position`; or UNUSUAL."""
    position = _after(lines, position, b'{"id":"')
    if position == UNUSUAL:
        return UNUSUAL
    while position < lines.size and lines[position] != _QUOTE:
        position += 2 if lines[position] == _BACKSLASH else 1
    return _after(lines, position, b'","text":"')


@inlined
def _after(lines: NDArray[np.uint8], position: int, expected: bytes) -> int:
    """Returns the position past these bytes, or UNUSUAL if others are there."""
    if position + len(expected) > lines.size:
        return UNUSUAL
    for i in range(len(expected)):
        if lines[position + i] != expected[i]:
            return UNUSUAL
    return position + len(expected)


@helper
def _unescaped(
    source: NDArray[np.uint8], position: int, buffers: tuple[NDArray[np.uint8], NDArray[np.uint8]], length: int
) -> tuple[int, int]:
    """Writes the content of a string, from its first byte on, at out[length:] in UTF-8.

    buffers: `out`, and room for a run. Returns where its closing quote is, or UNUSUAL; and where the content ends.
    """
    out, special = buffers
    while position < source.size:
        if position + RUN <= source.size:
            plain = _copy_plain(source[position : position + RUN], out[length : length + RUN], special)
            position += plain
            length += plain
            if plain == RUN:
                continue
        byte = source[position]
        if byte == _QUOTE:
            return position, length
        if byte == _BACKSLASH:
            point, position = _escape(source, position)
            if point == UNUSUAL:
                return UNUSUAL, length
            length = encoded(point, out, length)
        elif byte < 0x20:
            return UNUSUAL, length
        else:
            out[length] = byte
            position += 1
            length += 1
    return UNUSUAL, length


@inlined
def _copy_plain(run: NDArray[np.uint8], out: NDArray[np.uint8], special: NDArray[np.uint8]) -> int:
    """Copies a run of bytes; returns how many at its beginning stand for themselves: nothing escaped, no end."""
    for i in range(RUN):
        byte = run[i]
        out[i] = byte
        special[i] = (byte < 0x20) | (byte == _QUOTE) | (byte == _BACKSLASH)
    return int(first_bit(not_zero(special)))


@inlined
def _escape(source: NDArray[np.uint8], position: int) -> tuple[int, int]:
    """Returns the code point that is escaped, or UNUSUAL; and the position past it."""
    if position + 2 > source.size:
        return UNUSUAL, position
    letter = source[position + 1]
    after = position + 2
    if (letter == _QUOTE) | (letter == _BACKSLASH) | (letter == _SOLIDUS):
        return int(letter), after
    if letter == 0x6E:  # n
        return 0x0A, after
    if letter == 0x74:  # t
        return 0x09, after
    if letter == 0x72:  # r
        return 0x0D, after
    if letter == 0x62:  # b
        return 0x08, after
    if letter == 0x66:  # f
        return 0x0C, after
    if letter != 0x75 or after + 4 > source.size:  # u
        return UNUSUAL, after
    point = 0
    for i in range(4):
        digit = _hex_digit(source[after + i])
        if digit == UNUSUAL:
            return UNUSUAL, after
        point = point << 4 | digit
    return (UNUSUAL if 0xD800 <= point < 0xE000 else point), after + 4


@inlined
def _hex_digit(byte: int) -> int:
    if 0x30 <= byte <= 0x39:
        return int(byte) - 0x30
    if 0x41 <= (byte & 0xDF) <= 0x46:
        return (int(byte) & 0xDF) - 0x37
    return UNUSUAL
