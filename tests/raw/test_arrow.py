"""Arrow files and streams: the rows of parquet, and the same limits whatever the file claims."""

import io
import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus_assets.raw.formats import arrow_messages
from corpus_assets.raw.formats.flat_buffers import Table
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from resources.errors import BadFileError
from resources.formats.documents import Document
from tests.raw.every_format import COLUMNS, arrow_of

SMALL = Limits(line_bytes=1 << 16, free_bytes=1 << 20, ratio=4)
SHAPES = [(as_file, compression) for as_file in (True, False) for compression in (None, "lz4", "zstd")]


def read(content: bytes, limits: Limits = SMALL, name: str = "a.arrow", **rules: Any) -> list[Any]:
    return list(read_documents(RawFile(name, lambda: io.BytesIO(content)), RowRules("s", **rules), limits))


def parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@pytest.mark.parametrize(("as_file", "compression"), SHAPES)
def test_rows_are_those_of_parquet(as_file: bool, compression: str | None) -> None:
    given = {**COLUMNS, "tree": [{"a": [1], "b": None}, None, {"a": [], "b": "x"}, {"a": None, "b": ""}]}
    expected = read(parquet_of(given), name="a.parquet")
    assert len(expected) == 4
    content = arrow_of(given, as_file=as_file, compression=compression, rows=3)
    assert read(content) == expected
    assert read(content, name="a.feather") == expected
    assert read(content, name="a", format="arrow") == expected


def test_texts_in_views_and_dictionaries_are_texts() -> None:
    texts = ["short", "one that is longer than twelve bytes", "short"]
    for kind in (pa.string_view(), pa.large_string(), pa.binary(), pa.binary_view(), pa.dictionary(pa.int8(), "utf8")):
        column = pa.array(texts).cast(kind) if kind != pa.binary_view() else pa.array([t.encode() for t in texts], kind)
        found = read(
            arrow_of({"text": column, "more": pa.array([texts] * 3, pa.list_(pa.string_view()))}, as_file=True)
        )
        assert [row.text for row in found] == texts
        assert [json.loads(bytes(row.metadata)) for row in found] == [{"more": texts}] * 3


def test_a_row_that_is_no_utf8_or_too_long_is_bad_by_itself() -> None:
    texts = pa.array([b"ok", b"\xff", b"a" * (1 << 17), b"ok"]).view(pa.string())
    for column in (texts, texts.view(pa.binary()).cast(pa.binary_view()).view(pa.string_view())):
        found = read(arrow_of({"text": column}, as_file=False, rows=9))
        assert [row.reason if isinstance(row, BadRow) else row.text for row in found] == [
            "ok",
            "invalid_utf8",
            "line_too_long",
            "ok",
        ]
        assert [row.where for row in found if isinstance(row, BadRow)] == ["a.arrow row 2", "a.arrow row 3"]


@pytest.mark.parametrize(("as_file", "compression"), SHAPES)
def test_every_cut_is_a_bad_file(as_file: bool, compression: str | None) -> None:
    whole = arrow_of({"text": ["a", "b", "c"], "kind": pa.array(["x", "y", "x"]).dictionary_encode()}, as_file=as_file)
    for cut in range(len(whole)):
        with pytest.raises(BadFileError, match=r"^a\.arrow"):
            read(whole[:cut])


def test_what_follows_a_stream_is_a_fault_and_so_is_an_old_feather_file() -> None:
    stream = arrow_of({"text": ["a"]}, as_file=False)
    for rest in (b"x", stream, bytes(8)):
        with pytest.raises(BadFileError, match="has data after the end of its stream at byte"):
            read(stream + rest)
    with pytest.raises(BadFileError, match="arrow promises arrow bytes, but the content is feather"):
        read(b"FEA1" + bytes(100) + b"FEA1", name="a.feather")
    with pytest.raises(BadFileError, match=r"a\.arrow: is empty"):
        read(b"")


def test_another_schema_is_a_bad_file() -> None:
    with pytest.raises(BadFileError, match=r"no column 'body'.*; columns: text"):
        read(arrow_of({"text": ["a"]}, as_file=True), text_key="body")
    with pytest.raises(BadFileError, match="column 'text' is int64; valid: string or binary"):
        read(arrow_of({"text": [1]}, as_file=True))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["a"], ["b"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["a"])),
        pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(["a", "b"])]),
        pa.array([[1], [2]], pa.list_view(pa.int8())),
    ],
    ids=["dictionary in a list", "run ends", "union", "view of lists"],
)
def test_columns_whose_values_may_share_bytes_are_refused_by_name(column: pa.Array) -> None:
    with pytest.raises(BadFileError, match=r"column 'other'.* has type .*, which is not read"):
        read(arrow_of({"text": ["a", "b"], "other": column}, as_file=False))


def claimed(size: int) -> bytes:
    """A stream whose compressed text claims to have `size` bytes."""
    content = bytearray(arrow_of({"text": ["a" * 5000]}, as_file=False, compression="lz4"))
    place = content.rindex(struct.pack("<q", 5000))
    content[place : place + 8] = struct.pack("<q", size)
    return bytes(content)


@pytest.mark.parametrize("size", [1 << 62, 1 << 40, 1 << 20, -2])
def test_a_size_that_a_buffer_claims_is_checked_before_memory_is_taken(size: int) -> None:
    assert len(read(claimed(5000))) == 1
    with pytest.raises(
        BadFileError, match=r"a record batch of \d+ bytes, over the limit of 262144|does not say its size"
    ):
        read(claimed(size))


def test_batches_dictionaries_and_rows_have_limits() -> None:
    large = arrow_of({"text": ["a" * 1000] * 400}, as_file=True, rows=400)
    with pytest.raises(
        BadFileError, match=r"over the limit of 262144 \(four times `longest_row`\); write smaller batches"
    ):
        read(large)
    assert len(read(arrow_of({"text": ["a" * 1000] * 400}, as_file=True, rows=100))) == 400
    many = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["a" * 250_000]))
    two = {"text": many, "other": pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["b" * 250_000]))}
    with pytest.raises(BadFileError, match=r"dictionaries of 5000.. bytes"):
        read(arrow_of(two, as_file=True))
    nulls = pa.table({"text": pa.nulls(1 << 20, pa.null())}).cast(pa.schema({"text": pa.null()}))
    with pytest.raises(BadFileError, match=r"column 'text' is null|more bytes and rows than a file of its size"):
        read(arrow_of({"text": nulls["text"]}, as_file=False, rows=1 << 20))


def test_a_value_that_many_rows_share_is_decoded_a_few_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpus_assets.raw.formats.arrow.BATCH_BYTES", 1 << 17)
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(64), pa.int8()), pa.array(["a" * 60_000]))
    sizes: list[int] = []

    def plain(column: Any) -> Any:
        sizes.append(len(column))
        return column.dictionary_decode()

    monkeypatch.setattr("corpus_assets.raw.formats.arrow.plain", plain)
    found = read(arrow_of({"text": shared}, as_file=True, rows=64), Limits(line_bytes=1 << 16))
    assert (len(found), max(sizes)) == (64, 2)


def test_a_footer_that_names_a_batch_again_and_again_is_stopped() -> None:
    whole = bytearray(arrow_of({"text": ["a" * 60_000], "n": [1]}, as_file=True))
    (length,) = struct.unpack("<i", whole[-10:-6])
    footer = bytes(whole[-10 - length : -10])
    (first,) = [block for block in blocks(footer) if block]
    start = footer.index(first)
    count = footer[start - 4 : start]
    assert count == struct.pack("<i", 1)
    swollen = footer[: start - 4] + struct.pack("<i", 40) + first * 40 + footer[start + len(first) :]
    content = bytes(whole[: -10 - length]) + swollen + struct.pack("<i", len(swollen)) + b"ARROW1"
    with pytest.raises(BadFileError, match=r"more bytes and rows than a file of its size|corrupt|cannot be read"):
        read(content)


def blocks(footer: bytes) -> list[bytes]:
    table = Table.root(footer)
    return [arrow_messages._BLOCK.pack(*block) for block in table.structs(3, arrow_messages._BLOCK)]


def test_a_stream_of_the_time_before_the_mark_is_read() -> None:
    out = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(use_legacy_format=True, metadata_version=pa.ipc.MetadataVersion.V4)
    table = pa.table({"text": ["a", "b"]})
    with pa.ipc.new_stream(out, table.schema, options=options) as writer:
        writer.write_table(table)
    (first, second) = read(out.getvalue())
    assert isinstance(first, Document) and (first.text, second.text) == ("a", "b")
