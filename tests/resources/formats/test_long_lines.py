"""Lines of any length are read as `readline` reads them, in the memory of one of them."""

import tracemalloc
from io import BytesIO

import pytest

from resources.formats.jsonl.long_lines import PIECE_BYTES, all_lines, read_line
from resources.formats.texts import BLOCK_BYTES, whole_lines

SIZES = [0, 1, PIECE_BYTES - 2, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES]


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("size", SIZES)
def test_lines_are_those_of_readline(size: int, end: bytes) -> None:
    content = b"a\n" + b"b" * size + b"\nc" + b"d" * size + end
    assert list(all_lines(BytesIO(content))) == BytesIO(content).readlines()


@pytest.mark.parametrize("most", [1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES + 5])
def test_no_more_of_a_line_is_read_than_was_asked_for(most: int) -> None:
    stream = BytesIO(b"x" * (3 * PIECE_BYTES) + b"\n")
    assert len(read_line(stream, most)) == stream.tell() == most


def test_blocks_of_whole_lines_hold_a_long_line_whole() -> None:
    content = b"a\n" + b"b" * (3 * BLOCK_BYTES) + b"\nc\nd"
    blocks = list(whole_lines(BytesIO(content)))
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_long_line_is_held_once_and_no_longer_than_its_reader_holds_it() -> None:
    stream = BytesIO(b"x" * (32 << 20) + b"\nend\n")
    tracemalloc.start()
    try:
        lines = all_lines(stream)
        size = len(next(lines))
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < size / 8
    assert most < 1.3 * size
