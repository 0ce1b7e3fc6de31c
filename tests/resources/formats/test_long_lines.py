"""Lines of any length are read as `readline` reads them, in the memory of one of them."""

import tracemalloc
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.formats.jsonl.long_lines import BLOCK_BYTES, PIECE_BYTES, lines_of, read_line, whole_lines

SIZES = [0, 1, *(size + more for size in (BLOCK_BYTES, PIECE_BYTES) for more in (-2, -1, 0, 1)), 3 * PIECE_BYTES]


@pytest.mark.parametrize("end", [b"", b"\n"])
@pytest.mark.parametrize("size", SIZES)
def test_lines_are_those_of_readline(size: int, end: bytes) -> None:
    content = b"a\n" + b"b" * size + b"\nc" + b"d" * size + end
    assert list(lines_of(whole_lines(BytesIO(content)))) == BytesIO(content).readlines()


@pytest.mark.parametrize("most", [1, PIECE_BYTES, PIECE_BYTES + 1, 2 * PIECE_BYTES + 5])
def test_no_more_of_a_line_is_read_than_was_asked_for(most: int) -> None:
    stream = BytesIO(b"x" * (3 * PIECE_BYTES) + b"\n")
    assert len(read_line(stream, most)) == stream.tell() == most


def test_blocks_of_whole_lines_hold_a_long_line_whole() -> None:
    content = b"a\n" + b"b" * (3 * BLOCK_BYTES) + b"\nc\nd"
    blocks = list(whole_lines(BytesIO(content)))
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert b"b" * (3 * BLOCK_BYTES) + b"\n" in blocks


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(BLOCK_BYTES // 2, 2 * BLOCK_BYTES)), max_size=9))
def test_blocks_give_the_lines_in_order(sizes: list[int]) -> None:
    content = b"".join(b"x" * size + b"\n" for size in sizes)
    seen: list[bytes] = []
    assert list(lines_of(whole_lines(BytesIO(content)), seen.append)) == BytesIO(content).readlines()
    assert b"".join(seen) == content
    assert all(len(block) < 2 * BLOCK_BYTES or block.count(b"\n") == 1 for block in seen)


def test_a_long_line_is_held_once_and_no_longer_than_its_reader_holds_it() -> None:
    stream = BytesIO(b"x" * (32 << 20) + b"\nend\n")
    tracemalloc.start()
    try:
        lines = lines_of(whole_lines(stream))
        size = len(next(lines))
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < size / 8
    assert most < 1.3 * size
