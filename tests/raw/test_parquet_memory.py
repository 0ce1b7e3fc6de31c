"""The memory of parquet files whose values share bytes: a process that reads them takes what batches say."""

import io
import random
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.formats.columns import BATCH_BYTES
from corpus_assets.raw.formats.parquet_pages import PageError, page_header
from corpus_assets.raw.formats.parquet_values import delta_numbers
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from resources.errors import BadFileError

MOST = 4 * BATCH_BYTES
VALUE = 32 << 20
READ = """
import sys
from tests.raw.test_parquet_memory import of_file, peak
before = peak()
print(of_file(sys.argv[1]), (peak() - before))
"""
LONG = "a b c d " * (VALUE // 8)


def peak() -> int:
    """The peak memory of this process in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) << 10


def of_file(path: str) -> str:
    """How many rows of a file are good and bad, or that it is a bad file."""
    try:
        rows = [isinstance(row, BadRow) for row in read_documents(RawFile(path, partial(io.FileIO, path)), RULES)]
    except BadFileError:
        return "bad_file"
    return f"{rows.count(False)}+{rows.count(True)}"


RULES = RowRules("s")


def lists(value: Any, kind: pa.DataType) -> dict[str, Any]:
    """Ten short rows, and one that holds a value 200 times."""
    rows = [[value[:1] if value else None]] * 10 + [[value] * 200]
    return {"text": ["t"] * 11, "list": pa.array(rows, pa.list_(kind))}


def uneven() -> dict[str, Any]:
    """Short rows, then long ones, in pages of their own."""
    return {"text": ["s"] * 4000 + [random.Random(1).randbytes(1 << 17).hex() + LONG[: 7 << 20]] * 100}


FRONT = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"}
CASES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "dictionary": (lambda: {"text": pa.array([LONG] * 40, pa.large_string())}, {}, "40+0"),
    "same beginnings": (lambda: {"text": pa.array([LONG] * 40, pa.large_string())}, FRONT, "40+0"),
    "a dictionary in lists": (lambda: lists(LONG[: 8 << 20], pa.string()), {}, "10+1"),
    "same beginnings in lists": (lambda: lists(LONG[: 8 << 20], pa.string()), FRONT, "bad_file"),
    "nulls of a long type": (
        lambda: {"text": ["t"] * 300, "bytes": pa.array([None] * 300, pa.binary(8 << 20))},
        {},
        "300+0",
    ),
    "nulls of a long type in lists": (
        lambda: {"text": ["t"] * 2, "list": pa.array([[None] * 300] * 2, pa.list_(pa.binary(8 << 20)))},
        {},
        "bad_file",
    ),
    "long rows behind short ones": (
        uneven,
        {"use_dictionary": False, "write_batch_size": 1, "compression": "zstd"},
        "4100+0",
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", CASES)
def test_values_that_share_bytes_are_read_in_bounded_memory(name: str, tmp_path: Path) -> None:
    columns, how, expected = CASES[name]
    path = tmp_path / "a.parquet"
    table = pa.table(columns())
    pq.write_table(table, path, **{"compression": "none"} | how)
    command = [sys.executable, "-c", READ, str(path)]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert found[0] == expected
    assert int(found[1]) < MOST


WORDS = [f"word {number}" * (number % 7) for number in range(40)]
KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "list": (pa.list_(pa.string()), lambda words: words),
    "large list of bytes": (pa.large_list(pa.large_binary()), lambda words: [word.encode() for word in words]),
    "objects": (
        pa.list_(pa.struct({"a": pa.string(), "n": pa.int8()})),
        lambda words: [{"a": w, "n": 1} for w in words],
    ),
    "map": (pa.map_(pa.string(), pa.string()), lambda words: [(word, word) for word in words]),
    "lists of lists": (pa.list_(pa.list_(pa.string())), lambda words: [words, None, [None]]),
}


@pytest.mark.parametrize("codec", ["none", "zstd", "snappy", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("front_coded", [False, True])
def test_lists_are_the_same_however_their_values_are_read(
    monkeypatch: pytest.MonkeyPatch, codec: str, kind: str, version: str, front_coded: bool
) -> None:
    type_, value = KINDS[kind]
    chance = random.Random(7)
    rows = [value(chance.choices(WORDS, k=chance.randrange(9))) for _ in range(50)]
    content = io.BytesIO()
    how: dict[str, Any] = {"compression": codec, "data_page_version": version, "row_group_size": 20}
    pq.write_table(
        pa.table({"text": ["t"] * 50, "v": pa.array(rows, type_)}), content, **how, **plain(type_, front_coded)
    )
    file = RawFile("a.parquet", lambda: io.BytesIO(content.getvalue()))
    whole = list(read_documents(file, RULES, Limits()))
    monkeypatch.setattr("corpus_assets.raw.formats.parquet_batches.BATCH_BYTES", 100)
    assert list(read_documents(file, RULES, Limits())) == whole
    assert not [row for row in whole if isinstance(row, BadRow)]


def plain(kind: pa.DataType, front_coded: bool) -> dict[str, Any]:
    """How a column of lists is written so that its texts are stored as ends; no option otherwise."""
    if not front_coded:
        return {}
    content = io.BytesIO()
    pq.write_table(pa.table({"v": pa.array([], kind)}), content)
    schema = pq.ParquetFile(content).schema
    texts = [leaf.path for leaf in map(schema.column, range(len(schema))) if leaf.physical_type == "BYTE_ARRAY"]
    return {"use_dictionary": False, "column_encoding": dict.fromkeys(texts, "DELTA_BYTE_ARRAY")}


def test_the_library_asks_for_no_byte_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus_assets.raw.formats.parquet_batches.BATCH_BYTES", 100)
    content = io.BytesIO()
    texts = [random.Random(number).randbytes(200).hex() for number in range(8000)]
    pq.write_table(pa.table({"text": texts, "n": list(range(8000))}), content, row_group_size=1000)
    read = Counted(content.getvalue())
    assert len(list(read_documents(RawFile("a.parquet", lambda: read), RULES))) == 8000
    assert read.total < 1.5 * len(content.getvalue())


class Counted(io.BytesIO):
    """Counts the bytes that are read."""

    total = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.total += len(found)
        return found


@given(st.lists(st.integers(0, 2**31 - 1), max_size=300))
def test_delta_numbers_are_those_of_the_library(numbers: list[int]) -> None:
    content = io.BytesIO()
    table = pa.table({"n": pa.array(numbers, pa.int64())}, pa.schema([pa.field("n", pa.int64(), nullable=False)]))
    how: dict[str, Any] = {"use_dictionary": False, "compression": "none", "column_encoding": "DELTA_BINARY_PACKED"}
    pq.write_table(table, content, write_statistics=False, **how)
    if not numbers:
        return
    column = pq.ParquetFile(content).metadata.row_group(0).column(0)
    chunk = memoryview(content.getvalue())[column.data_page_offset :][: column.total_compressed_size]
    page = page_header(chunk)
    found, used = delta_numbers(chunk[page.own :], page.values)
    assert found.tolist() == numbers and used == page.stored


@given(st.binary(max_size=60))
def test_any_bytes_are_delta_numbers_or_an_error(stored: bytes) -> None:
    try:
        found, used = delta_numbers(memoryview(stored), 1000)
    except PageError:
        return
    assert len(found) <= 1000 and used <= len(stored)
