"""Lines of any length, each put together in one piece of memory.

`readline` and `join` hold a long line twice, and leave its pieces to the allocator, which does not give them back.
"""

from collections.abc import Iterator
from io import BytesIO
from sys import maxsize
from typing import BinaryIO

from resources.processes.long_documents import wait_for_turn

PIECE_BYTES = 1 << 20
"""Bytes of a line that are read at once; a longer line is put together."""


def read_line(stream: BinaryIO, most: int = maxsize) -> bytes:
    """Returns the next line, newline included, or its first `most` bytes; nothing at the end of the stream."""
    line = stream.readline(min(most, PIECE_BYTES))
    return line if len(line) < PIECE_BYTES or line.endswith(b"\n") else _continued(stream, line, most)


def _continued(stream: BinaryIO, piece: bytes, most: int) -> bytes:
    held = BytesIO()  # It grows in place, and gives its bytes away without a copy.
    held.write(piece)
    while piece and not piece.endswith(b"\n"):
        piece = stream.readline(min(most - held.tell(), PIECE_BYTES))
        held.write(piece)
        wait_for_turn(held.tell())
    return held.getvalue()


def all_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream line by line, newline included; it does not hold a long line that it has yielded."""
    readline = stream.readline
    while line := readline(PIECE_BYTES):
        if len(line) < PIECE_BYTES:
            yield line
        else:
            whole = [line if line.endswith(b"\n") else _continued(stream, line, maxsize)]
            del line
            yield whole.pop()
