"""The contents of JSON strings as UTF-8."""

import numpy as np
from numpy.typing import NDArray

from resources.formats.kernels.utf8 import encoded, is_utf8
from resources.kernels.jit import ahead, helper, inlined, kernel, read_only

UNUSUAL = -1
"""Returned where a JSON library must decide: faults, halves of surrogate pairs, other keys."""

_QUOTE, _BACKSLASH, _SOLIDUS, _NEWLINE = 0x22, 0x5C, 0x2F, 0x0A
_RUN = 64


@ahead(f"{read_only('uint8')}, uint8[::1], int64[::1]")
@kernel
def document_texts(lines: NDArray[np.uint8], texts: NDArray[np.uint8], bounds: NDArray[np.int64]) -> int:
    """Writes the texts of documents, as this project writes their lines, into `texts` (bytes of `lines`,) in UTF-8.

    `bounds` (lines + 1,) becomes where each starts and the last ends. Returns the number of lines, or UNUSUAL.
    """
    number, length, position = 0, 0, 0
    bounds[0] = 0
    if not is_utf8(lines):
        return UNUSUAL
    while position < lines.size:
        position = _text_start(lines, position)
        if position == UNUSUAL or number + 1 >= bounds.size:
            return UNUSUAL
        position, length = _unescaped(lines, position, texts, length)
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
def _unescaped(source: NDArray[np.uint8], position: int, out: NDArray[np.uint8], length: int) -> tuple[int, int]:
    """Writes the content of a string, from its first byte on, at out[length:] in UTF-8.

    Returns where its closing quote is, or UNUSUAL; and where the content ends.
    """
    while position < source.size:
        if position + _RUN <= source.size:
            plain = int(_copy_plain(source[position : position + _RUN], out[length : length + _RUN]))
            position += plain
            length += plain
            if plain == _RUN:
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
def _copy_plain(run: NDArray[np.uint8], out: NDArray[np.uint8]) -> np.uint8:
    """Copies a run of bytes; returns how many at its beginning stand for themselves: nothing escaped, no end."""
    plain = np.uint8(_RUN)
    for i in range(_RUN):
        byte = run[i]
        out[i] = byte
        others = (byte < 0x20) | (byte == _QUOTE) | (byte == _BACKSLASH)
        plain = min(plain, np.uint8(i) if others else np.uint8(_RUN))
    return plain


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
