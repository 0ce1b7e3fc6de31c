"""Members of a gzip file: read alone, copied, and one plain stream to everybody else."""

import gzip
import io
from itertools import compress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.errors import LedgerError
from resources.formats.jsonl import lines as lines_module
from resources.formats.jsonl.lines import LineWriter
from resources.formats.jsonl.members import Member, read, table_path

LINES = st.lists(st.binary(max_size=60).map(lambda line: line.replace(b"\n", b"") + b"\n"), max_size=40)


def written(lines: list[bytes]) -> tuple[bytes, LineWriter]:
    file = io.BytesIO()
    writer = LineWriter(file)
    for line in lines:
        writer.write(line)
    writer.finish()
    return file.getvalue(), writer


def members(stored: bytes, writer: LineWriter) -> list[Member]:
    found, place = [], 0
    for row in writer.table():
        found.append(read(stored[place : place + int(row["stored"])], row))
        place += int(row["stored"])
    assert place == len(stored) or not len(writer.table())
    return found


@pytest.fixture(autouse=True, scope="module")
def _small_members() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "MEMBER_BYTES", 100)
        yield


@given(LINES)
def test_members_are_one_stream_and_each_holds_its_rows(lines: list[bytes]) -> None:
    stored, writer = written(lines)
    assert gzip.decompress(stored) == b"".join(lines)
    assert [line for member in members(stored, writer) for line in member.lines()] == lines
    assert writer.table()["rows"].sum() == len(lines) == writer.written.rows
    assert written(lines)[0] == stored


@settings(deadline=None)
@given(LINES, st.data())
def test_a_copy_of_chosen_lines_has_the_content_of_lines_written_one_by_one(
    lines: list[bytes], data: st.DataObject
) -> None:
    stored, source = written(lines)
    chosen = data.draw(st.lists(st.booleans(), min_size=len(lines), max_size=len(lines)))
    file = io.BytesIO()
    copy = LineWriter(file)
    start = 0
    for member in members(stored, source):
        picked = chosen[start : start + member.rows]
        start += member.rows
        if all(picked):
            copy.copy(member)
        else:
            for line in compress(member.lines(), picked):
                copy.write(line)
    copy.finish()
    expected = list(compress(lines, chosen))
    assert gzip.decompress(file.getvalue()) == b"".join(expected)
    assert copy.written == written(expected)[1].written
    assert [line for member in members(file.getvalue(), copy) for line in member.lines()] == expected


def test_a_damaged_member_is_found() -> None:
    stored, writer = written([f"line {number}\n".encode() for number in range(12)])
    row = writer.table()[0]
    first = stored[: int(row["stored"])]
    for wrong in (
        first[:-9],
        first[:12] + bytes([first[12] ^ 4]) + first[13:],
        b"",
        first[10:],
        gzip.compress(b"x" * 500),
    ):
        with pytest.raises(LedgerError, match="damaged member"):
            read(wrong, row)
    assert read(first, row).content == b"".join(f"line {number}\n".encode() for number in range(int(row["rows"])))


def test_an_empty_file_is_gzip_and_has_no_member() -> None:
    stored, writer = written([])
    assert (gzip.decompress(stored), len(writer.table()), writer.written.rows) == (b"", 0, 0)
    assert table_path("a/b.jsonl.gz") == "a/b.members.npy"
    assert np.dtype(writer.table().dtype).itemsize == 28
