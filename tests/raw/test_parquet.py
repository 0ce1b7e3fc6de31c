"""Parquet files that claim less than they hold, or hold more than their size allows."""

import io
import json
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.config.datasets.files import Files
from corpus_assets.raw.examples import ExampleReader
from corpus_assets.raw.formats import columns, parquet_batches
from corpus_assets.raw.formats.parquet_pages import PageError, page_header
from corpus_assets.raw.items import ItemRules
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents, read_rows
from corpus_assets.raw.sampling import Unread
from resources.errors import BadFileError
from resources.formats.documents import Document

Read = Document | BadRow


def table_file(columns: dict[str, Any], **how: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, **{"compression": "zstd"} | how)
    return buffer.getvalue()


def read(content: bytes, limits: Limits | None = None) -> list[Read]:
    file = RawFile("a.parquet", lambda: io.BytesIO(content))
    return list(read_documents(file, RowRules("s"), limits or Limits()))


def varint(number: int) -> bytes:
    """A whole number as the footer has it."""
    value, found = number << 1, bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def test_decompressed_size_is_bounded_by_ratio() -> None:
    content = table_file({"text": ["a" * 50_000] * 40}, use_dictionary=False)
    assert len(read(content)) == 40
    with pytest.raises(BadFileError, match=r"decompresses to more than the 100000 bytes allowed for its size"):
        read(content, Limits(ratio=10, free_bytes=100_000))


@pytest.mark.parametrize("groups", [1, 40])
def test_a_footer_that_promises_less_than_the_pages_hold_is_refused(groups: int) -> None:
    content = table_file({"text": ["a" * 50_000] * 40}, use_dictionary=False, row_group_size=40 // groups)
    true = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0).total_uncompressed_size
    less = varint(true * 2 // 3)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    assert len(less) == len(varint(true)) and content[footer:].count(varint(true)) >= groups
    lying = content[:footer] + content[footer:].replace(varint(true), less)
    with pytest.raises(BadFileError, match="the footer promises"):
        read(lying)


def test_rows_longer_than_the_limit_are_bad_and_others_stay() -> None:
    texts = ["a", "b" * 3000, "c", "d" * 900]
    content = table_file({"id": list("wxyz"), "text": texts, "more": ["", "", "e" * 3000, ""]})
    found = read(content, Limits(line_bytes=2000))
    assert [row.id if isinstance(row, Document) else (row.where, row.reason) for row in found] == [
        "w",
        ("a.parquet row 2", "line_too_long"),
        ("a.parquet row 3", "line_too_long"),
        "z",
    ]


LISTS: dict[str, Any] = {
    "bools": pa.array([[False] * 5000, [True]]),
    "nulls": pa.array([[None] * 5000, [None]], pa.list_(pa.null())),
    "empty lists": pa.array([[[]] * 5000, [[]]], pa.list_(pa.list_(pa.int8()))),
    "objects": pa.array([[{"a": None}] * 5000, [{"a": None}]], pa.list_(pa.struct({"a": pa.bool_()}))),
    "a map": pa.array([[(n, None) for n in range(5000)], [(1, None)]], pa.map_(pa.int16(), pa.bool_())),
    "in an object": pa.array([{"l": [False] * 5000}, {"l": [True]}]),
}


@pytest.mark.parametrize("name", LISTS)
def test_values_of_lists_count_though_they_are_stored_in_next_to_nothing(name: str) -> None:
    found = read(table_file({"text": ["long", "short"], "list": LISTS[name]}), Limits(line_bytes=100_000))
    assert [row.reason if isinstance(row, BadRow) else row.text for row in found] == ["line_too_long", "short"]


def test_lists_of_more_values_than_a_file_may_hold_are_refused_before_they_are_read() -> None:
    content = table_file({"text": ["a"], "list": pa.array([[False] * 200_000])})
    assert len(content) < 2000
    with pytest.raises(BadFileError, match=r"decompresses to more than the 1000000 bytes allowed for its size"):
        read(content, Limits(free_bytes=1_000_000, ratio=1))


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.none() | st.booleans()))))
def test_inner_values_are_those_of_the_rows(rows: list[list[tuple[int, bool | None]]]) -> None:
    for kind in (pa.map_(pa.int8(), pa.bool_()), pa.list_(pa.struct({"k": pa.int8(), "v": pa.bool_()}))):
        values = rows if pa.types.is_map(kind) else [[{"k": k, "v": v} for k, v in row] for row in rows]
        column, each = pa.array(values, kind), 2 if pa.types.is_map(kind) else 3
        assert [columns._inner_values(column.slice(n, 1)) for n in range(len(rows))] == [each * len(r) for r in rows]


def test_pages_far_over_the_longest_row_are_refused() -> None:
    content = table_file({"text": ["a" * 1000] * 40}, use_dictionary=False)
    with pytest.raises(BadFileError, match=r"a page of \d+ bytes, over the limit of 8000 .*longest_row"):
        read(content, Limits(line_bytes=2000))


def test_a_value_that_rows_share_takes_memory_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_batches, "BATCH_BYTES", 1 << 20)
    content = table_file({"text": ["a" * (1 << 19)] * 30, "n": list(range(30))})
    before = pa.total_allocated_bytes()
    file = RawFile("a.parquet", lambda: io.BytesIO(content))
    for number, row in enumerate(read_documents(file, RowRules("s"), Limits())):
        assert isinstance(row, Document) and json.loads(bytes(row.metadata)) == {"n": number}
        assert pa.total_allocated_bytes() - before < 4 << 20
    assert number == 29


@pytest.mark.parametrize("stored", [pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.large_string()])
def test_values_that_rows_share_have_a_limit_in_all(monkeypatch: pytest.MonkeyPatch, stored: pa.DataType) -> None:
    content = table_file({"text": pa.array(["a" * 10_000] * 400, stored)})
    assert len(read(content, Limits(ratio=1))) == 400
    monkeypatch.setattr(columns, "FREE_VALUE_BYTES", 1 << 20)
    with pytest.raises(BadFileError, match="its values have more bytes than a file of"):
        read(content, Limits(ratio=1, free_bytes=1 << 20))


@pytest.mark.parametrize("nested", [False, True])
def test_column_names_that_are_no_utf8_are_a_bad_file_by_name(nested: bool) -> None:
    value = [{"naqqe": "v"}] if nested else ["v"]
    content = table_file({"text": ["t"], "c" if nested else "naqqe": value}).replace(b"naqqe", b"na\xff\xfee")
    with pytest.raises(BadFileError, match=r"a\.parquet: a column has a name that is no UTF-8"):
        read(content)


def test_only_wanted_columns_are_read() -> None:
    broken = pa.array([b"\xff", b"ok"]).view(pa.string())
    content = table_file({"q": ["one", "two"], "q.more": ["", ""], "other": broken, "big": ["z" * 5000] * 2})
    files = Files.model_construct(None, location="")
    rules = ItemRules("s", "auto", "id", "auto", shape="text", files=files, text_keys=("q",))
    file = RawFile("a.parquet", lambda: io.BytesIO(content))
    limits = Limits(line_bytes=1000)
    items = list(read_rows(file, "auto", limits, lambda: ExampleReader(rules, limits), bare_strings=False))
    assert [getattr(item, "text", item) for item in items] == ["one", "two"]
    assert len(list(read_rows(file, "auto", limits, Unread, bare_strings=False))) == 2


@given(st.lists(st.integers(0, 400), max_size=40), st.integers(1, 7), st.booleans(), st.integers(1, 5000))
def test_rows_are_those_of_the_table_whatever_the_batches(
    sizes: list[int], group: int, shared: bool, batch_bytes: int
) -> None:
    texts = [("é" if size % 2 else "a") * size for size in sizes]
    content = table_file({"text": pa.array(texts, pa.string())}, use_dictionary=shared, row_group_size=group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet_batches, "BATCH_BYTES", batch_bytes)
        found = read(content)
    assert [row.text for row in found if isinstance(row, Document)] == texts


@given(st.binary(max_size=40))
def test_any_bytes_are_a_page_header_or_an_error(stored: bytes) -> None:
    try:
        page = page_header(stored)
    except PageError:
        return
    assert page.own <= len(stored) and page.stored >= 0 and page.decompressed >= 0


def test_a_damaged_footer_ends_no_process() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "tests.raw.damaged_footers"], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert int(found.stdout) > 1000


def test_a_time_zone_that_is_none_makes_its_rows_bad() -> None:
    times = pa.array([None, 1], pa.timestamp("us", "Middle/Nowhere"))
    assert [getattr(row, "reason", None) for row in read(table_file({"text": ["a", "b"], "at": times}))] == [
        None,
        "bad_value",
    ]
