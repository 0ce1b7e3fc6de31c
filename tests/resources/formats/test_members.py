"""Members of a file of rows: read alone, copied, and one plain stream to everybody else."""

import gzip
import io
import shutil
import subprocess
from itertools import compress

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.formats.jsonl import lines as lines_module
from resources.formats.jsonl.compressions import COMPRESSIONS, GZIP, LZ4, ZSTD, Compression, compression_of, stored_as
from resources.formats.jsonl.lines import LineWriter
from resources.formats.jsonl.members import Member, made, read, table_path

LINES = st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=40)
COMPRESSED = st.sampled_from(sorted(COMPRESSIONS.values(), key=lambda one: one.name))
each = pytest.mark.parametrize("compression", COMPRESSIONS.values(), ids=COMPRESSIONS)


def written(lines: list[bytes], compression: Compression = GZIP) -> tuple[bytes, LineWriter]:
    file = io.BytesIO()
    writer = LineWriter(file, compression)
    for line in lines:
        writer.write(line)
    writer.finish()
    return file.getvalue(), writer


def members(stored: bytes, writer: LineWriter, compression: Compression) -> list[Member]:
    found, place = [], 0
    for row in writer.table():
        found.append(read(stored[place : place + int(row["stored"])], row, compression))
        place += int(row["stored"])
    assert place == len(stored) or not len(writer.table())
    return found


def elsewhere(stored: bytes, compression: Compression) -> bytes:
    """The content of a file as other programs read it."""
    if compression is GZIP:
        return gzip.decompress(stored)
    if compression is ZSTD:
        with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(stored), read_across_frames=True) as stream:
            return stream.read()
    with pa.CompressedInputStream(pa.BufferReader(stored), "lz4") as stream:
        return bytes(stream.read())


@pytest.fixture(autouse=True, scope="module")
def _small_members() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "MEMBER_BYTES", 100)
        yield


@given(LINES, COMPRESSED)
def test_members_are_one_stream_and_each_holds_its_rows(lines: list[bytes], compression: Compression) -> None:
    stored, writer = written(lines, compression)
    assert elsewhere(stored, compression) == b"".join(lines)
    assert [line for member in members(stored, writer, compression) for line in member.lines()] == lines
    assert writer.table()["rows"].sum() == len(lines) == writer.written.rows
    assert writer.written == written(lines)[1].written
    assert written(lines, compression)[0] == stored


@settings(deadline=None)
@given(LINES, COMPRESSED, COMPRESSED, st.data())
def test_a_copy_of_chosen_lines_has_the_content_of_lines_written_one_by_one(
    lines: list[bytes], before: Compression, after: Compression, data: st.DataObject
) -> None:
    stored, source = written(lines, before)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    file = io.BytesIO()
    copy = LineWriter(file, after)
    start = 0
    for member in members(stored, source, before):
        picked = chosen[start : start + member.rows]
        start += member.rows
        if all(picked):
            copy.copy(member)
        else:
            for line in compress(member.lines(), picked):
                copy.write(line)
    copy.finish()
    expected = list(compress(lines, chosen))
    assert elsewhere(file.getvalue(), after) == b"".join(expected)
    assert copy.written == written(expected)[1].written
    assert [line for member in members(file.getvalue(), copy, after) for line in member.lines()] == expected


def test_a_member_is_compressed_again_only_for_another_compression() -> None:
    member = made(b"a line\n", 1, LZ4)
    assert member.compressed_by(LZ4) is member
    again = member.compressed_by(GZIP)
    assert (gzip.decompress(again.stored), again.compression) == (b"a line\n", GZIP)


@each
def test_a_damaged_member_is_found(compression: Compression) -> None:
    stored, writer = written([f"line {number}\n".encode() for number in range(12)], compression)
    row = writer.table()[0]
    first = stored[: int(row["stored"])]
    for wrong in (
        first[:-9],
        first[:12] + bytes([first[12] ^ 4]) + first[13:],
        b"",
        first[10:],
        first + first,
        first + b"\0",
        compression.compress(b"x" * 500),
        compression.compress(b"x"),
    ):
        with pytest.raises(LedgerError, match="damaged member"):
            read(wrong, row, compression)
    content = b"".join(f"line {number}\n".encode() for number in range(int(row["rows"])))
    assert read(first, row, compression).content == content


@each
def test_a_member_that_holds_more_than_its_table_says_takes_no_memory_for_it(compression: Compression) -> None:
    bomb = compression.compress(bytes(1 << 26))
    _, writer = written([b"line\n"], compression)
    taken: list[int] = []
    whole = compression.decompress

    def decompress(stored: bytes, size: int) -> bytes:
        content = whole(stored, size)
        taken.append(len(content))
        return content

    watched = Compression(compression.name, compression.suffix, compression.compress, decompress)
    with pytest.raises(LedgerError, match="damaged member"):
        read(bomb, writer.table()[0], watched)
    assert sum(taken) <= 6


@each
def test_an_empty_file_is_a_stream_and_has_no_member(compression: Compression) -> None:
    stored, writer = written([], compression)
    assert (elsewhere(stored, compression), len(writer.table()), writer.written.rows) == (b"", 0, 0)
    assert table_path(f"a/b{compression.ending}") == "a/b.members.npy"
    assert np.dtype(writer.table().dtype).itemsize == 28


@pytest.mark.parametrize("compression", [one for one in COMPRESSIONS.values() if shutil.which(one.name)])
def test_the_program_of_that_name_reads_it(compression: Compression) -> None:
    lines = [f"line {number}\n".encode() for number in range(50)]
    stored, _ = written(lines, compression)
    done = subprocess.run([compression.name, "-dc"], input=stored, capture_output=True, check=True)
    assert done.stdout == b"".join(lines)


def test_a_path_names_the_compression_or_takes_that_of_the_store() -> None:
    for store in COMPRESSIONS.values():
        assert stored_as("a/b.jsonl", store.name) == f"a/b.jsonl{store.suffix}"
        assert compression_of(stored_as("a/b.jsonl", store.name)) is store
        assert stored_as("a/b.jsonl.gz", store.name) == "a/b.jsonl.gz"
