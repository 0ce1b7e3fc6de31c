"""Every file format: digests are what the writers took, ranges of rows are what was written, previews show rows."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from resources.errors import LedgerError
from resources.formats.arrays import ARRAYS, HEADER_BYTES, ArrayWriter, read_rows
from resources.formats.documents import Document
from resources.formats.hdf5.reader import HDF5
from resources.formats.hdf5.writer import write_hdf5
from resources.formats.jsonl.lines import LINES
from resources.formats.known import FORMATS, format_of
from resources.formats.segments import ZSTD_ROWS
from resources.ledger.ledger import FileRecord
from resources.shards.listing import Shard
from resources.stage.task import Given, Task
from resources.storage.local.store import LocalStorage

SHARD = Shard("books--one", "books", "one", "raw", "one.jsonl", 1, "1")


def task_in(folder: Path) -> Task:
    return Task(Given("asset", SHARD.key, LocalStorage(folder, sync=False), {}, shards=(SHARD,)))


@pytest.fixture
def files(tmp_path: Path) -> list[FileRecord]:
    """One file of each format in a store, with what its writer said of it."""
    task = task_in(tmp_path)
    with task.documents("a.jsonl.gz") as documents:
        for number in range(5):
            documents.add(Document(f"id {number}", f"text {number}", "books"))
    for compression in ("zst", "lz4"):
        with task.lines(f"g.jsonl.{compression}") as plain:
            plain.write(b'{"plain": 1}\n')
    with task.segmented("b.jsonl.zst", ["one", "two"]) as lines:
        for number in range(6):
            lines.write("two" if number % 2 else "one", f'{{"row": {number}}}\n'.encode())
    with task.array("c.npy", np.uint16, (3,)) as array:
        array.append(np.arange(12, dtype=np.uint16).reshape(4, 3))
    out = task.create("d.h5")
    rows = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    written = write_hdf5(out, [rows], {"mode": "x"}, features=("i", "m", "l"), sequence_length=4)
    task.add_file("d.h5", written.content_digest, written.rows)
    task.save_json("e.json", {"key": [1, 2]}, rows=1)
    with task.binary("f.bin") as binary:
        binary.write(b"\xff\x00" * 9, rows=9)
    task.publish()
    return task.files


def test_what_is_stored_has_the_digest_that_its_writer_took(files: list[FileRecord], tmp_path: Path) -> None:
    assert {format_of(file.path) for file in files} > set(FORMATS)
    for file in files:
        assert format_of(file.path).digest(LocalStorage(tmp_path).open, file.path) == file.digest, file.path


def test_one_changed_byte_is_found(files: list[FileRecord], tmp_path: Path) -> None:
    for file in files:
        stored = tmp_path / file.path
        content = stored.read_bytes()
        stored.write_bytes(content[:-3] + bytes([content[-3] ^ 0x55]) + content[-2:])
        try:
            found = format_of(file.path).digest(LocalStorage(tmp_path).open, file.path)
        except Exception:
            continue
        # HDF5 has unused bytes at its end.
        assert found != file.digest or file.path == "d.h5", file.path


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("a.jsonl.gz", '{"id":"id 0","text":"text 0","source":"books"}'),
        ("b.jsonl.zst", '{"row": 0}'),
        ("g.jsonl.zst", '{"plain": 1}'),
        ("g.jsonl.lz4", '{"plain": 1}'),
        ("c.npy", "uint16 (4, 3)"),
        ("d.h5", "'mode': 'x'"),
        ("e.json", "{"),
        ("f.bin", "(no text)"),
    ],
)
def test_a_person_sees_the_first_rows(files: list[FileRecord], tmp_path: Path, path: str, first: str) -> None:
    shown = list(format_of(path).preview(LocalStorage(tmp_path).open, path, 2))
    assert first in shown[0]
    assert len(shown) <= 3


def test_known_formats_go_by_suffix() -> None:
    assert [format_of(f"x{known.suffix}") for known in FORMATS] == [*LINES, ZSTD_ROWS, ARRAYS, HDF5]


def written_array(array: NDArray[np.generic]) -> bytes:
    file = io.BytesIO()
    writer = ArrayWriter(file, array.dtype, array.shape[1:])
    writer.append(array)
    writer.finish()
    return file.getvalue()


@given(st.integers(0, 30), st.sampled_from([(), (3,), (2, 2)]), st.data())
def test_a_range_of_rows_is_what_numpy_reads(rows: int, shape: tuple[int, ...], data: st.DataObject) -> None:
    array = np.arange(rows * int(np.prod(shape, dtype=int)), dtype=np.int32).reshape(rows, *shape)
    stored = written_array(array)
    start = data.draw(st.integers(0, rows))
    stop = data.draw(st.integers(start, rows))
    asked: list[tuple[int, int]] = []

    def read(offset: int, size: int) -> bytes:
        asked.append((offset, size))
        return stored[offset : offset + size]

    found = read_rows(read, "x.npy", start, stop)
    assert np.array_equal(found, np.load(io.BytesIO(stored))[start:stop])
    assert found.flags.writeable
    assert sum(size for _, size in asked) == HEADER_BYTES + found.nbytes


def without_object_arrays() -> bytes:
    file = io.BytesIO()
    np.save(file, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return file.getvalue().ljust(HEADER_BYTES, b"\0")


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (b"", "not an array of this store"),
        (b"\x93NUMPY\x01\x00\xf6\x00" + b"x" * 246, "not an array of this store"),
        (
            b"\x93NUMPY\x01\x00\xf6\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}".ljust(246),
            "objects",
        ),
        (without_object_arrays(), "not an array of this store"),
        (written_array(np.arange(9))[:-5], "is cut off"),
    ],
)
def test_what_is_no_array_is_refused(stored: bytes, message: str) -> None:
    with pytest.raises(LedgerError, match=message):
        read_rows(lambda offset, size: stored[offset : offset + size], "x.npy", 0, 9 if "cut" in message else 0)
    with pytest.raises(LedgerError, match="3 rows; rows 2 to 4 were asked for"):
        read_rows(lambda offset, size: written_array(np.arange(3))[offset : offset + size], "x.npy", 2, 4)


def write_rows(task: Task, flags: list[bool | None]) -> None:
    with task.attributes("loud") as out:
        for number, flag in enumerate(flags):
            out.add(Document(str(number), "text", "books"), {"loud__x__y": [(0, 4, 1.0)]}, flagged=flag)
    task.publish()


def test_attribute_rows_all_say_whether_they_are_flagged_or_none_does(tmp_path: Path) -> None:
    for flags in ([True, None], [None, True], [False, False, None]):
        with pytest.raises(ValueError, match="either every row says whether it is flagged, or none"):
            write_rows(task_in(tmp_path), flags)
    unflagged = task_in(tmp_path / "unflagged")
    write_rows(unflagged, [None, None])
    assert (unflagged.segments, len(unflagged.files)) == ({}, 1)
    flagged = task_in(tmp_path / "flagged")
    write_rows(flagged, [True, False])
    assert list(flagged.segments) == ["flags"]
    assert np.load(tmp_path / "flagged/attributes/loud/books/one.flags.npy").tolist() == [True, False]
