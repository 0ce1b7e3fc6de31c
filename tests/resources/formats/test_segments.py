"""Segmented files: every segment comes back as it was written, alone, or not at all."""

import io

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.formats.segments import Segment, SegmentWriter, segment_lines
from resources.formats.writers import Written

NAMES = ["a", "b", "c"]
Lines = list[tuple[str, bytes]]

lines_of = st.lists(
    st.tuples(st.sampled_from(NAMES), st.binary(max_size=40).map(lambda raw: raw.replace(b"\n", b" ") + b"\n"))
)


def write(lines: Lines) -> tuple[io.BytesIO, dict[str, Segment], Written]:
    file = io.BytesIO()
    writer = SegmentWriter(file, io.BytesIO(), NAMES)
    for name, line in lines:
        writer.write(name, line)
    written = writer.finish()
    return file, writer.index, written


def frames(stored: bytes | bytearray, segment: Segment) -> bytes:
    """The stored bytes of one segment."""
    return bytes(stored[segment.offset : segment.offset + segment.length])


@given(lines=lines_of)
def test_every_segment_comes_back_and_the_whole_is_one_zstd_file(lines: Lines) -> None:
    file, index, written = write(lines)
    for name in NAMES:
        assert list(segment_lines(frames(file.getvalue(), index[name]), index[name])) == [
            line for place, line in lines if place == name
        ]
    whole = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(file.getvalue()), read_across_frames=True).read()
    assert whole == b"".join(line for name in NAMES for place, line in lines if place == name)
    assert (written.rows, written.content_bytes) == (len(lines), len(whole))


def test_large_segments_take_blocks_through_the_scratch_file() -> None:
    lines = [(NAMES[n % 3], f"{n} ".encode() * 500 + b"\n") for n in range(900)]
    file, index, _ = write(lines)
    for name in NAMES:
        assert list(segment_lines(frames(file.getvalue(), index[name]), index[name])) == [
            line for place, line in lines if place == name
        ]


@given(lines=lines_of)
def test_the_digest_is_of_the_content_segment_by_segment(lines: Lines) -> None:
    _, index, written = write(lines)
    ordered = sorted(lines, key=lambda line: line[0])
    assert write(ordered)[1:] == (index, written)
    changed = [*lines, ("b", b"more\n")]
    _, other, whole = write(changed)
    assert whole.digest != written.digest
    assert [name for name in NAMES if other[name].digest != index[name].digest] == ["b"]


def test_damage_is_an_error_and_never_other_lines() -> None:
    lines = [("b", f"line {n} of the middle segment\n".encode()) for n in range(200)]
    file, index, _ = write([("a", b"first\n"), *lines, ("c", b"last\n")])
    segment = index["b"]
    for place in range(segment.offset, segment.offset + segment.length, 7):
        stored = bytearray(file.getvalue())
        stored[place] ^= 0x41
        with pytest.raises(LedgerError, match="damaged segment"):
            list(segment_lines(frames(stored, segment), segment))
    with pytest.raises(LedgerError, match="damaged segment"):
        list(segment_lines(frames(file.getvalue(), segment)[: segment.length // 2], segment))
