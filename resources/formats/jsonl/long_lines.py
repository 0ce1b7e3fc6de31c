"""Lines of any length, each put together in one piece of memory.

`readline` and `join` hold a long line twice, and leave its pieces to the allocator, which does not give them back.
"""

from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from sys import maxsize
from typing import BinaryIO

from resources.processes.long_documents import wait_for_turn

BLOCK_BYTES = 1 << 18
"""Bytes of a stream that are read at once: they stay in the processor's cache."""

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


def whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yields the rest of a stream in blocks of whole lines; a line of `BLOCK_BYTES` or more is a block of its own."""
    held = BytesIO()  # A long line grows in place, and is given away without a copy.
    while read := stream.read(BLOCK_BYTES):
        if held.tell() >= BLOCK_BYTES and (end := read.find(b"\n") + 1):
            held.write(read[:end])
            read = read[end:]
            block = [held.getvalue()]
            held = BytesIO()
            yield block.pop()
        if end := read.rfind(b"\n") + 1:
            held.write(read[:end])
            block = [held.getvalue()]
            held = BytesIO()
            yield block.pop()
        held.write(read[end:])
        wait_for_turn(held.tell())
    if rest := held.getvalue():
        yield rest


def lines_of(blocks: Iterable[bytes], see: Callable[[bytes], None] | None = None) -> Iterator[bytes]:
    """Yields the lines in blocks of whole lines, newline included; it does not hold a long line that it has yielded.

    see: is called with each block before its lines are yielded.
    """
    for block in blocks:
        if see is not None:
            see(block)
        if len(block) < PIECE_BYTES:
            yield from BytesIO(block)
        else:
            line = [block]
            del block
            yield line.pop()
