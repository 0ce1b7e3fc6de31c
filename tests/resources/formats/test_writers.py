"""Writers: what a file holds is digested and counted as it goes by, and equal content gives equal digests."""

import gzip
import io
from typing import Any

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.formats.arrays import ArrayWriter
from resources.formats.jsonl.lines import LineWriter
from resources.formats.writers import BinaryWriter


def write_lines(lines: list[bytes]) -> tuple[bytes, str, int, int]:
    file = io.BytesIO()
    writer = LineWriter(file)
    for line in lines:
        writer.write(line)
    written = writer.finish()
    return file.getvalue(), written.digest, written.rows, written.content_bytes


@given(lines=st.lists(st.binary(max_size=50).map(lambda raw: raw + b"\n")))
def test_lines_are_gzip_with_the_digest_of_what_is_inside(lines: list[bytes]) -> None:
    stored, digest, rows, size = write_lines(lines)
    whole = b"".join(lines)
    assert gzip.decompress(stored) == whole
    assert (digest, rows, size) == (xxhash.xxh3_128_hexdigest(whole), len(lines), len(whole))
    assert write_lines(lines)[0] == stored


def test_lines_beyond_a_block_are_one_stream() -> None:
    lines = [f"{n} ".encode() * 3000 + b"\n" for n in range(200)]
    assert gzip.decompress(write_lines(lines)[0]) == b"".join(lines)


@given(blocks=st.lists(st.integers(0, 5), max_size=5), width=st.integers(1, 4))
def test_arrays_written_in_blocks_are_one_array(blocks: list[int], width: int) -> None:
    whole = np.arange(sum(blocks) * width, dtype=np.uint32).reshape(-1, width)
    digests = set()
    for cut in (blocks, [sum(blocks)]):
        file = io.BytesIO()
        writer = ArrayWriter(file, np.uint32, (width,))
        start = 0
        for count in cut:
            writer.append(whole[start : start + count])
            start += count
        written = writer.finish()
        digests.add((written.digest, file.getvalue()))
        assert (written.rows, written.content_bytes) == (len(whole), whole.nbytes)
        file.seek(0)
        np.testing.assert_array_equal(np.load(file, allow_pickle=False), whole)
    assert len(digests) == 1


def test_the_digest_of_an_array_knows_its_shape_and_type() -> None:
    def digest(array: NDArray[Any]) -> str:
        writer = ArrayWriter(io.BytesIO(), array.dtype, array.shape[1:])
        writer.append(array)
        return writer.finish().digest

    zeros = np.zeros(12, dtype=np.uint32)
    shapes: list[NDArray[Any]] = [
        zeros,
        zeros.reshape(6, 2),
        zeros.reshape(3, 4),
        zeros.astype(np.int32),
        zeros.astype(np.uint64)[:6],
    ]
    assert len({digest(array) for array in shapes}) == len(shapes)


def test_an_array_takes_no_other_type_or_shape() -> None:
    writer = ArrayWriter(io.BytesIO(), np.uint32, (2,))
    for block in (np.zeros((1, 2), np.int64), np.zeros((1, 3), np.uint32), np.zeros(2, np.uint32)):
        with pytest.raises(ValueError, match="this file takes uint32"):
            writer.append(block)
    with pytest.raises(ValueError, match="does not fit"):
        ArrayWriter(io.BytesIO(), np.dtype([(f"name{n:03d}", "<u4") for n in range(40)])).finish()


@given(st.lists(st.binary(max_size=40)))
def test_bytes_are_written_as_they_are_however_they_are_cut(blocks: list[bytes]) -> None:
    file = io.BytesIO()
    writer = BinaryWriter(file)
    with pytest.raises(RuntimeError, match="known when the file is finished"):
        _ = writer.written
    for block in blocks:
        writer.write(block, rows=2)
    content = b"".join(blocks)
    assert writer.finish() is writer.written
    assert file.getvalue() == content
    expected = (xxhash.xxh3_128_hexdigest(content), 2 * len(blocks), len(content))
    assert (writer.written.digest, writer.written.rows, writer.written.content_bytes) == expected
