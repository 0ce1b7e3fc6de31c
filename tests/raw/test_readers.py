import errno
import gzip
import io
import json
import os
import re
import tarfile
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO
from unittest.mock import MagicMock, Mock

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.card import croissant
from corpus_assets.raw.formats import columns, parquet_values
from corpus_assets.raw.formats import parquet as parquet_rows
from corpus_assets.raw.formats.names import PROMISING, resolve_format
from corpus_assets.raw.formats.parquet_pages import PageHeader
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, listed_members, read_documents
from corpus_assets.raw.rows.faults import RowError
from corpus_assets.streams.assets import COLUMNS as STREAM_COLUMNS
from resources.errors import BadFileError, StorageError
from resources.formats.documents import DOCUMENT_COLUMNS, Document, decode_document, encode_document
from resources.raw_places.data_suffixes import SUFFIXES

RULES = RowRules("s")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def zstd(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


def tar(*members: tuple[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


PACK: dict[str, Callable[[bytes], bytes]] = {
    "a.jsonl": bytes,
    "a.jsonl.gz": gzip.compress,
    "a.json.gz": gzip.compress,
    "a.jsonl.zst": zstd,
    "a.jsonl.zst.tar": lambda lines: tar(("m.jsonl.zst", zstd(lines))),
}


def raw_file(name: str, content: bytes) -> RawFile:
    return RawFile(name, lambda: io.BytesIO(content))


def read(name: str, content: bytes, rules: RowRules = RULES, limits: Limits | None = None) -> list[Document | BadRow]:
    return list(read_documents(raw_file(name, content), rules, limits or Limits()))


def read_row(row: object, rules: RowRules = RULES) -> Document | BadRow:
    (found,) = read("a.jsonl", row if isinstance(row, bytes) else json.dumps(row).encode(), rules)
    return found


def document(row: object, rules: RowRules = RULES) -> Document:
    found = read_row(row, rules)
    assert isinstance(found, Document), found
    return found


def reasons(rows: Iterable[Document | BadRow]) -> list[str | None]:
    return [row.reason if isinstance(row, BadRow) else None for row in rows]


def metadata(found: Document) -> Any:
    return json.loads(bytes(found.metadata) or b"{}")


@pytest.mark.parametrize("name", PACK)
@given(texts=st.lists(TEXTS, max_size=5))
def test_documents_survive_every_line_format(name: str, texts: list[str]) -> None:
    rows = [Document(f"id {n}", text, "s", metadata=msgspec.Raw(b'{"n": %d}' % n)) for n, text in enumerate(texts)]
    found = read(name, PACK[name](b"".join(map(encode_document, rows))))
    assert found == rows


@given(texts=st.lists(TEXTS, max_size=5), kind=st.sampled_from(["string", "large_string", "binary", "dict"]))
def test_documents_survive_parquet(texts: list[str], kind: str) -> None:
    types = {"large_string": pa.large_string(), "binary": pa.binary()}
    column = pa.array(texts, pa.string())
    column = column.dictionary_encode() if kind == "dict" else column.cast(types.get(kind, pa.string()))
    found = read("a.parquet", parquet(text=column, id=pa.array([str(n) for n in range(len(texts))])))
    assert found == [Document(str(n), text, "s") for n, text in enumerate(texts)]


@given(text=TEXTS.filter(bool))
def test_a_text_file_is_one_document(text: str) -> None:
    assert read("b/a.txt", b"\xef\xbb\xbf" + text.encode()) == [Document("b/a.txt:0", text, "s")]


@given(rows=st.lists(st.binary(max_size=30).map(lambda raw: raw.replace(b"\n", b"")), max_size=6))
def test_any_bytes_give_rows_or_a_bad_file(rows: list[bytes]) -> None:
    try:
        found = read("a.jsonl", b"\n".join(rows))
    except BadFileError:
        return
    mark = b"\xef\xbb\xbf"
    kept = [rows[0].removeprefix(mark), *rows[1:]] if rows else []
    assert len(found) == sum(bool(row.strip()) for row in kept)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    row=st.dictionaries(st.sampled_from(["id", "text", "source", "added", "metadata", "meta", "x"]), JSON),
    ascii_only=st.booleans(),
)
def test_every_document_is_stored_and_read_again(row: dict[str, object], ascii_only: bool) -> None:
    line = json.dumps({"text": "t", **row}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    (found,) = read("a.jsonl", line)
    if isinstance(found, Document):
        assert decode_document(encode_document(found)) == found
        for key, value in row.items():
            if key in ("x", "meta") and not isinstance(value, dict) and (key == "x" or value is not None):
                assert value in (metadata(found).get(key), metadata(found).get(key + "_"))


@pytest.mark.parametrize("name", [name for name in PACK if name != "a.jsonl"])
def test_a_cut_file_is_never_a_short_file(name: str) -> None:
    lines = b"".join(encode_document(Document(str(n), f"text {n}", "s")) for n in range(20))
    whole = PACK[name](lines)
    complete = 0
    for cut in range(1, len(whole)):
        try:
            found = read(name, whole[:cut])
        except BadFileError:
            continue
        assert len(found) == 20
        complete += 1
    assert complete == (0 if "tar" not in name else len(whole) - tar_end(whole))


def tar_end(whole: bytes) -> int:
    """Bytes up to and with the first zero block after the members: the least that is a whole archive."""
    used = len(whole.rstrip(b"\0"))
    return (used + 511) // 512 * 512 + 512


@given(position=st.integers(0), flip=st.integers(1, 255))
def test_a_damaged_archive_is_whole_or_bad(position: int, flip: int) -> None:
    lines = b"".join(encode_document(Document(str(n), "t", "s")) for n in range(3))
    damaged = bytearray(tar(("a.jsonl.zst", zstd(lines)), ("b.jsonl.zst", zstd(lines))))
    damaged[position % len(damaged)] ^= flip
    try:
        found = read("a.jsonl.zst.tar", bytes(damaged))
    except BadFileError:
        return
    assert len(found) == 6


@pytest.mark.parametrize("size", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"77777777777\0", b"garbage 8\0\0\0"])
@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_SPARSE])
def test_a_header_with_an_impossible_size_is_bad(size: bytes, kind: bytes) -> None:
    good = tar(("a.jsonl.zst", zstd(b'{"text":"a"}\n')))
    header = bytearray(good[:512])
    header[124:136], header[156:157] = size, kind
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with pytest.raises(BadFileError):
        read("a.jsonl.zst.tar", good[:1024] + bytes(header) + good[512:])


def test_archive_with_data_after_its_end_is_bad() -> None:
    whole = tar(("a.jsonl.zst", zstd(b'{"text":"a"}\n')))
    with pytest.raises(BadFileError, match="after its end"):
        read("a.jsonl.zst.tar", whole + whole)


def test_derived_ids_are_unique_across_members_of_one_name() -> None:
    member = ("m.jsonl.zst", zstd(b'{"text":"a"}\n7\n{"text":"b"}\n'))
    found = read("a.jsonl.zst.tar", tar(member, ("skip.txt", b"x"), member))
    assert [row.id for row in found if isinstance(row, Document)] == [
        f"a.jsonl.zst.tar/m.jsonl.zst:{row}" for row in (0, 2, 3, 5)
    ]
    assert [row.where for row in found if isinstance(row, BadRow)] == [
        "a.jsonl.zst.tar member m.jsonl.zst line 2",
        "a.jsonl.zst.tar member skip.txt",
        "a.jsonl.zst.tar member m.jsonl.zst line 2",
    ]


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("notes.txt", tarfile.REGTYPE, "does not end in .jsonl.zst"),
        ("link.jsonl.zst", tarfile.SYMTYPE, "a link"),
        ("hard.jsonl.zst", tarfile.LNKTYPE, "a link"),
        ("null.jsonl.zst", tarfile.CHRTYPE, "a device"),
        ("pipe.jsonl.zst", tarfile.FIFOTYPE, "a device or pipe"),
        ("folder.jsonl.zst", tarfile.DIRTYPE, None),
        ("deep/._m.jsonl.zst", tarfile.REGTYPE, None),
    ],
)
def test_members_that_are_skipped_are_counted(name: str, kind: bytes, told: str | None) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as packed:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/hostname" if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) else ""
        packed.addfile(info)
    found = read("a.jsonl.zst.tar", buffer.getvalue())
    assert [row.where for row in found if isinstance(row, BadRow)] == [f"a.jsonl.zst.tar member {name}"] * bool(told)
    assert all(isinstance(row, BadRow) and row.reason == "skipped_member" and str(told) in row.detail for row in found)


def test_ids_auto_follow_the_first_good_row() -> None:
    with_id, without = b'{"id":"k","text":""}\n', b'{"text":""}\n'
    found = read("a.jsonl", b"7\n" + with_id + without)
    assert reasons(found) == ["not_an_object", None, "no_id"]
    found = read("a.jsonl", b"7\n" + without + with_id + without)
    assert [row.id for row in found if isinstance(row, Document)] == ["a.jsonl:1", "k", "a.jsonl:3"]


def test_ids_given_and_derived() -> None:
    lines = b'{"text":"a"}\n{"id":"k","text":"b","metadata":{"id":1}}\n'
    assert reasons(read("a.jsonl", lines, RowRules("s", ids="given"))) == ["no_id", None]
    first, second = read("a.jsonl", lines, RowRules("s", ids="derived"))
    assert isinstance(first, Document) and isinstance(second, Document)
    assert (first.id, second.id) == ("a.jsonl:0", "a.jsonl:1")
    assert metadata(second) == {"id": 1, "id_": "k"}  # an id that is not used is not lost


@pytest.mark.parametrize(
    ("value", "expected"), [(7, "7"), (-3, "-3"), (10**30, "1" + "0" * 30), ("0", "0"), ("a\n", "a\n")]
)
def test_good_ids(value: object, expected: str) -> None:
    assert document({"id": value, "text": "t"}).id == expected


@pytest.mark.parametrize("value", [None, 1.5, 1e300, True, [], {}, ""])
def test_bad_ids(value: object) -> None:
    assert reasons([read_row({"id": value, "text": "t"})]) == ["bad_id"]


def test_dolma_fields_and_every_other_key() -> None:
    row = {"id": "1", "text": "t", "source": "s", "added": "2024", "created": None, "metadata": {"b": 1}}
    assert document(row) == Document("1", "t", "s", added="2024", metadata=msgspec.Raw(b'{"b": 1}'))
    odd = document({"id": "1", "text": "t", "source": "other", "added": 5, "version": "v", "meta": {"b": 1}})
    assert metadata(odd) == {"b": 1, "source": "other", "added": 5, "version": "v"}
    clash = document({"text": "t", "x": 1, "x_": 2, "metadata": {"x": 0}, "meta": {"y": 1}})
    assert metadata(clash) == {"x": 0, "x_": 1, "x__": 2, "meta": {"y": 1}}
    named = document({"text": "t", "info": {"a": 1}, "metadata": [1]}, RowRules("s", metadata_key="info"))
    assert metadata(named) == {"a": 1, "metadata": [1]}


@pytest.mark.parametrize(("value", "kept"), [(None, {}), ("str", {"metadata": "str"}), ([1], {"metadata": [1]})])
def test_metadata_that_is_no_object(value: object, kept: object) -> None:
    assert metadata(document({"text": "t", "metadata": value})) == kept


def test_metadata_keeps_its_bytes_on_one_line() -> None:
    assert bytes(document(b'{"text":"t","meta":{ "a" : 1.50,\t"a":"\\u00e9"}}').metadata) == (
        b'{ "a" : 1.50,\t"a":"\\u00e9"}'
    )
    assert bytes(document(b'{"text":"t","meta":{"a":\r1}}').metadata) == b'{"a": 1}'


@pytest.mark.parametrize("shape", [b"{%b}\n", b'{%b,"other":[]}\n', b'{"meta":{},%b}\n'])
def test_of_a_key_that_a_row_has_twice_the_last_counts(shape: bytes) -> None:
    """So docs/inputs.md says, of rows that are decoded in one pass and of others."""
    found = document(shape % b'"text":"a","id":"1","n":1,"id":"2","text":"b","n":2')
    assert (found.id, found.text, metadata(found)["n"]) == ("2", "b", 2)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"text":"a\\ud800"}', "lone_surrogate"),
        (b'{"text":"a","meta":{"k":"\\udc00\\ud800"}}', "lone_surrogate"),
        (b'{"text":"\\ud83d\\ude00","meta":"\\ud83d"', "lone_surrogate"),
        (b'{"text":"\\ud83d\\ude00", cut', "invalid_json"),
        (b'{"text":"\\\\ud800", cut', "invalid_json"),
        (b'{"text":"a","meta":{"k":"\xff"}}', "invalid_utf8"),
        (b'{"text":"a","\xff":1}', "invalid_utf8"),
        (b'{"text":"a","meta":{"k":NaN}}', "invalid_json"),
        (b'{"text":"a","meta":{"k":1e400}}', "number_out_of_range"),
        (b'{"text":"a","meta":{"k":[-' + b"9" * 5000 + b"]}}", "number_out_of_range"),
        (b'{"text":"a","k":' + b"[" * 300 + b"]" * 300 + b"}", "too_deep"),
        (b'{"text":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep"),
        (b'{"text":"a"} {}', "invalid_json"),
        (b'"a"', "not_an_object"),
        (b'{"Text":"a"}', "no_text"),
        (b'{"text":null}', "text_not_a_string"),
    ],
)
def test_bad_rows(line: bytes, reason: str) -> None:
    assert reasons([read_row(line)]) == [reason]


@pytest.mark.parametrize(
    "value",
    [b"1" + b"0" * 308, b'"1e999"', b'"' + b"[" * 999 + b'"', b"0." + b"1" * 400, b"1e-999", b"[]," * 300],
)
def test_odd_values_that_are_harmless(value: bytes) -> None:
    line = b'{"text":"a","meta":{"k":[' + value.removesuffix(b",") + b"]}}"
    assert bytes(document(line).metadata) == line[len(b'{"text":"a","meta":') : -1]


def test_a_json_string_is_a_text_in_json_gz_alone() -> None:
    lines = b'"first"\n {"text":"second"}\n  "third" \n4\n'
    found = read("a.json.gz", gzip.compress(lines))
    assert [row.text if isinstance(row, Document) else row.reason for row in found] == [
        *("first", "second", "third", "not_an_object")
    ]
    assert reasons(read("a.jsonl.gz", gzip.compress(lines)))[0] == "not_an_object"


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("dump", [b'[{"text":"a"},{"text":"b"}]', b'\xef\xbb\xbf\n [ {"text":"a"}, {"text":"b"}]\n'])
@pytest.mark.parametrize("longest", [8, 1000])
def test_a_dump_of_all_rows_as_one_array_is_no_single_bad_row(name: str, dump: bytes, longest: int) -> None:
    """Counted as one row, it would hide how much is lost, and pass `max_bad_rows` beside any other file."""
    with pytest.raises(BadFileError, match="one JSON array of objects; valid is one object per line"):
        read(name, PACK[name](dump), limits=Limits(line_bytes=longest))


def test_a_given_id_may_be_that_of_several_documents_and_nothing_says_otherwise() -> None:
    found = read("a.jsonl", b'{"id":"1","text":"a"}\n{"id":"1","text":"b"}\n{"id":1,"text":"c"}\n')
    assert [row.id for row in found if isinstance(row, Document)] == ["1", "1", "1"]
    written = [words for name, _, words in croissant.COLUMNS if name == "id"]
    for words in (DOCUMENT_COLUMNS["id"], STREAM_COLUMNS["id"], *written):
        assert "given ones may repeat" in words


@pytest.mark.parametrize("line", [b"[1,2]", b"[]", b'["a"]', b'[[{"text":"a"}]]'])
def test_another_array_is_a_bad_row(line: bytes) -> None:
    assert reasons(read("a.jsonl", line + b'\n{"text":"a"}\n[{"text":"b"}]\n')) == [
        "not_an_object",
        None,
        "not_an_object",
    ]


def test_long_lines_are_passed_over_and_counted() -> None:
    good, long = b'{"text":"%s"}\n' % (b"a" * 88), b'{"text":"%s"}\n'
    lines = (
        good + long % (b"a" * 89) + good + long % (b"a" * 500) + good.rstrip() + b"\n" + long.rstrip() % (b"a" * 999)
    )
    found = read("a.jsonl", lines, limits=Limits(line_bytes=100))
    assert reasons(found) == [None, None, None, "line_too_long", None, "line_too_long"]
    assert [row.where for row in found if isinstance(row, BadRow)] == ["a.jsonl line 4", "a.jsonl line 6"]
    with pytest.raises(BadFileError, match="over the limit of 100 bytes"):
        read("a.txt", b"a" * 101, limits=Limits(line_bytes=100))


def test_decompressed_size_is_bounded_by_ratio() -> None:
    line = b'{"text":"%s"}\n' % (b"a" * 2_000_000)
    tight = Limits(ratio=10, free_bytes=1_000_000)
    for name in ("a.jsonl.gz", "a.jsonl.zst", "a.jsonl.zst.tar"):
        assert len(read(name, PACK[name](line))) == 1
        with pytest.raises(BadFileError, match="decompresses to more than"):
            read(name, PACK[name](line), limits=tight)


def parquet(**columns: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def test_parquet_columns_become_metadata() -> None:
    content = parquet(
        id=pa.array([7, None]),
        text=["a", "b"],
        when=pa.array([1, None], pa.timestamp("s")),
        raw=[b"\x00\xff", None],
        score=[float("nan"), 0.5],
        metadata=[{"k": [1]}, {"k": []}],
    )
    found = read("a.parquet", content, RowRules("s", ids="auto"))
    assert isinstance(found[0], Document)
    assert (found[0].id, metadata(found[0])) == (
        "7",
        {"k": [1], "when": "1970-01-01T00:00:01", "raw": "AP8=", "score": None},
    )
    assert found[1] == BadRow("a.parquet row 2", "no_id", "no key 'id'")


def test_parquet_reports_rows_whose_metadata_is_no_utf8() -> None:
    broken = pa.array([b"ok", b"\xff", b"ok"]).view(pa.string())
    found = read("a.parquet", parquet(text=["a", "b", "c"], name=broken))
    assert reasons(found) == [None, "invalid_utf8", None]
    assert [row.id for row in found if isinstance(row, Document)] == ["a.parquet:0", "a.parquet:2"]


def test_a_cut_parquet_file_is_bad() -> None:
    whole = parquet(text=["a", "b"])
    for cut in range(len(whole)):
        with pytest.raises(BadFileError):
            read("a.parquet", whole[:cut])


def test_listed_text_files() -> None:
    texts = {"one.txt": b"1\r\n", "sub/two.TXT": b"\xef\xbb\xbf2"}

    def member(path: str) -> BinaryIO:
        if path not in texts:
            raise StorageError(f"{path} is outside")
        return io.BytesIO(texts[path])

    def listing(content: bytes) -> RawFile:
        return RawFile("txt/list.txt", lambda: io.BytesIO(content), member)

    rules = RowRules("s", format="txt_list")
    good = listing(b"\xef\xbb\xbfone.txt\r\n\n  sub/two.TXT ")
    assert listed_members(good) == [(1, "one.txt"), (3, "sub/two.TXT")]
    assert list(read_documents(good, rules)) == [
        Document("txt/one.txt:0", "1\r\n", "s"),
        Document("txt/sub/two.TXT:0", "2", "s"),
    ]
    with pytest.raises(StorageError):
        list(read_documents(listing(b"../../etc/passwd.txt"), rules))
    with pytest.raises(BadFileError, match=r"line 1: a list of text files may name only .txt files"):
        list(read_documents(listing(b"passwd"), rules))


@pytest.mark.parametrize(("number", "kind"), [(errno.EIO, StorageError), (errno.EACCES, BadFileError)])
def test_a_listed_file_that_cannot_be_read_is_named_with_its_line(number: int, kind: type[Exception]) -> None:
    def member(path: str) -> BinaryIO:
        raise OSError(number, os.strerror(number))

    listing = RawFile("txt/list.txt", lambda: io.BytesIO(b"\nsub/two.txt"), member)
    with pytest.raises(kind, match=rf"list\.txt line 2 \(sub/two\.txt\): cannot be read.*{os.strerror(number)}"):
        list(read_documents(listing, RowRules("s", format="txt_list")))


def test_too_little_memory_is_no_fault_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow's own error of memory is one of its errors of content too."""

    def fails(*_: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 64 failed")

    monkeypatch.setattr(parquet_rows, "read_rows", fails)
    with pytest.raises(MemoryError, match="malloc"):
        list(read_documents(RawFile("a.parquet", lambda: io.BytesIO(b"PAR1")), RowRules("s")))
    monkeypatch.setattr(pa, "Codec", fails)
    with pytest.raises(MemoryError, match="malloc"):
        parquet_values.decompressed("ZSTD", PageHeader(0, 4, 4, "PLAIN", 1, 0, False), memoryview(b"abcd"))


@pytest.mark.parametrize(("number", "kind"), [(errno.EMFILE, StorageError), (errno.ENAMETOOLONG, RowError)])
def test_a_time_zone_that_the_machine_cannot_read_is_no_bad_value(number: int, kind: type[Exception]) -> None:
    """Arrow reads time zones from files, by the names that a column has."""
    error = OSError(number, os.strerror(number))
    column = MagicMock(to_pylist=Mock(side_effect=error))
    column.__iter__.return_value = [Mock(as_py=Mock(side_effect=error))]
    try:
        (found,) = columns._column_values(column)
    except StorageError as fault:
        found = fault
    assert isinstance(found, kind)
    assert os.strerror(number) in str(found)


def test_format_is_the_longest_suffix_in_any_case() -> None:
    for suffix, kind in SUFFIXES.items():
        assert resolve_format("x" + suffix.upper()) == kind
    assert [resolve_format(f"x.{known}") for known in PROMISING] == [resolve_format("x", known) for known in PROMISING]
    assert resolve_format("lines.ndjson").rows == resolve_format("lines", "jsonl").rows == "jsonl"
    for name, declared in (("a.gz", "auto"), ("a.zst.tar", "auto"), ("jsonl", "auto"), ("a.jsonl", "xml")):
        with pytest.raises(BadFileError, match="unknown"):
            resolve_format(name, declared)


def test_content_must_be_what_the_name_promises() -> None:
    contents = {name: pack(b'{"text":"a"}\n') for name, pack in PACK.items()} | {"a.parquet": parquet(text=["a"])}
    kinds = {"a.jsonl.gz": "gzip", "a.json.gz": "gzip"}
    for promised in contents:
        for actual, content in contents.items():
            if kinds.get(promised, promised) != kinds.get(actual, actual):
                with pytest.raises(BadFileError):
                    read(promised, content)


def test_no_refusal_proposes_the_name_that_the_file_has() -> None:
    with pytest.raises(BadFileError, match="the content is plain; the file is damaged, or is of another format"):
        read("a.parquet", b"garbage\n")


@pytest.mark.parametrize("promised", ["a.jsonl", "a.jsonl.gz", "a.json.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("packed", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_the_name_that_a_refusal_proposes_reads_the_file(promised: str, packed: str) -> None:
    content = PACK[packed](b'{"text":"a"}\n')
    if {promised, packed} <= {"a.jsonl.gz", "a.json.gz"} or promised == packed:
        return
    with pytest.raises(BadFileError) as refused:
        read(promised, content)
    proposed = re.search(r"let its name end in \.(\S+),", str(refused.value))
    assert proposed
    assert [row.text for row in read(f"a.{proposed[1]}", content) if isinstance(row, Document)] == ["a"]


def test_what_no_format_can_be_is_to_be_unpacked() -> None:
    for name, content in (("a.parquet", PACK["a.jsonl.gz"](b"text")), ("a.jsonl", b"PK\3\4")):
        with pytest.raises(BadFileError, match="unpack the file"):
            read(name, content)


def test_a_text_may_begin_like_a_container_in_letters() -> None:
    assert [row.text for row in read("a.txt", b"PAR1 and BZh") if isinstance(row, Document)] == ["PAR1 and BZh"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"])
def test_utf_16_and_32_are_bad_files(encoding: str) -> None:
    for name in ("a.jsonl", "a.txt"):
        with pytest.raises(BadFileError, match="starts like UTF-16 or UTF-32"):
            read(name, '{"text":"a"}'.encode(encoding))


def test_names_that_are_no_utf8_are_spelled_out() -> None:
    (found,) = read("bad\udcff.jsonl", b'{"text":"a"}')
    assert isinstance(found, Document) and found.id == "bad\\xff.jsonl:0"
    (bad,) = read("bad\udcff.jsonl", b"7")
    assert isinstance(bad, BadRow) and bad.where == "bad\\xff.jsonl line 1"


KEEP = RowRules("s", lone_surrogates="keep")
LOOSE = RowRules("s", lone_surrogates="keep", loose_texts=True)


@given(st.lists(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=9), max_size=4))
def test_lists_of_strings_are_joined_where_texts_are_loose(texts: list[str]) -> None:
    line = json.dumps({"text": texts, "k": 1}).encode()
    (found,) = read("a.jsonl", line, LOOSE)
    assert isinstance(found, Document)
    assert found.text == "\n\n".join(json.loads(line)["text"])
    assert metadata(found) == {"k": 1}


@given(st.text(st.characters() | st.characters(categories=["Cs"]), max_size=20))
def test_lone_surrogates_are_kept_for_a_normalization_that_repairs_them(text: str) -> None:
    """The row as the standard library reads it, which joins the halves of a pair."""
    line = json.dumps({"text": text}).encode()
    (found,) = read("a.jsonl", line, KEEP)
    assert isinstance(found, Document)
    assert found.text == json.loads(line)["text"]


def test_lone_surrogates_outside_the_text_are_replaced() -> None:
    line = (
        rb'{"id":"\ud800","text":"\udfff \ud83d\ude00 \\ud800","metadata":{"\ud800":["\udc00",' + b"9" * 5000 + b"]}}"
    )
    (found,) = read("a.jsonl", line.replace(b"9" * 5000, b"9" * 300), KEEP)
    assert isinstance(found, Document)
    assert (found.id, found.text) == ("\ufffd", "\udfff \U0001f600 \\ud800")
    assert list(metadata(found)) == ["\ufffd"]
    assert reasons(read("a.jsonl", line, KEEP)) == ["number_out_of_range"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (rb'{"text":"\ud800 \x"}', "lone_surrogate"),
        (b'{"text":"\\ud800 \x01"}', "lone_surrogate"),
        (b'{"text":"\\ud800 \xff"}', "invalid_utf8"),
        (b'{"text":"\\ud800 \xed\xa0\x80"}', "invalid_utf8"),
        (rb'{"text":["\ud800"]}', "text_not_a_string"),
        (rb'["\ud800"]', "not_an_object"),
    ],
)
def test_what_is_no_row_is_not_kept_for_its_surrogates(line: bytes, reason: str) -> None:
    assert reasons(read("a.jsonl", line, KEEP)) == [reason]
