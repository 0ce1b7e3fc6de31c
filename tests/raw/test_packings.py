"""A format says what rows are; how a file is compressed is what its first bytes say."""

import io
import json
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_assets.raw.readers import RawFile, RowRules, json_lines, listed_members, read_documents
from corpus_assets.raw.rows.rules import FormatOptions
from resources.errors import BadFileError
from tests.raw.every_format import every_format
from tests.raw.packings import PACK, UNREAD

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=30)


def read(name: str, content: bytes, **rules: Any) -> list[Any]:
    return list(read_documents(RawFile(name, lambda: io.BytesIO(content)), RowRules("s", **rules)))


@settings(deadline=None)
@given(parts=st.lists(st.lists(TEXTS, max_size=4), min_size=1, max_size=3), end=st.sampled_from(sorted(PACK)))
def test_rows_are_the_same_whatever_the_compression_and_however_many_streams(parts: list[list[str]], end: str) -> None:
    lines = ["".join(json.dumps({"text": text}) + "\n" for text in part).encode() for part in parts]
    whole, packed = b"".join(lines), b"".join(map(PACK[end], lines))
    plain = read("a", whole, format="jsonl")
    assert [row.text for row in plain] == [text for part in parts for text in part]
    assert read("a", packed, format="jsonl") == plain
    assert [row.text for row in read(f"a.NDJSON.{end}", packed)] == [row.text for row in plain]


@pytest.mark.parametrize("end", PACK)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "tsv", "warc.wet", "warc", "txt"])
def test_a_format_reads_every_compression_and_a_suffix_names_it(kind: str, end: str) -> None:
    content = every_format()[f"a.{kind}"]
    plain = read("a", content, format=kind)
    assert plain
    assert read("a", PACK[end](content), format=kind) == plain
    named = read(f"a.{kind}.{end}", PACK[end](content))
    assert [row[1:] for row in map(fields, named)] == [row[1:] for row in map(fields, plain)]


def fields(row: Any) -> tuple[Any, ...]:
    return row if isinstance(row, tuple) else (row.id, row.text)


@pytest.mark.parametrize("end", PACK)
def test_every_cut_of_a_compressed_file_is_a_bad_file(end: str) -> None:
    whole = PACK[end](every_format()["a.jsonl"])
    for cut in range(1, len(whole)):
        with pytest.raises(BadFileError, match=r"^a\.jsonl"):
            read(f"a.jsonl.{end}", whole[:cut])
        if cut > 16:
            with pytest.raises(BadFileError, match=r"^a: .* stream is cut or corrupt"):
                read("a", whole[:cut], format="jsonl")


@pytest.mark.parametrize("end", PACK)
def test_a_compressed_text_is_read_like_a_text_and_has_its_limits(end: str) -> None:
    (row,) = read(f"books/a.txt.{end}", PACK[end](b"\xef\xbb\xbfA text.\r\n"))
    assert (row.id, row.text) == (f"books/a.txt.{end}:0", "A text.\r\n")
    assert read(f"a.txt.{end}", PACK[end](b"")) == []
    with pytest.raises(BadFileError, match="no UTF-8"):
        read(f"a.txt.{end}", PACK[end](b"\xe4"))


def test_lists_and_the_texts_that_they_name_may_be_compressed() -> None:
    listing = PACK["xz"](b"one.txt\nmore/two.txt.lz4\n")
    texts = {"one.txt": b"1", "more/two.txt.lz4": PACK["lz4"](b"2")}
    file = RawFile("l", lambda: io.BytesIO(listing), lambda path: io.BytesIO(texts[path]))
    assert listed_members(file) == [(1, "one.txt"), (2, "more/two.txt.lz4")]
    assert [row.text for row in read_documents(file, RowRules("s", format="txt_list"))] == ["1", "2"]  # type: ignore[union-attr]


def test_lines_as_they_are_come_from_every_compression() -> None:
    for end, pack in PACK.items():
        file = RawFile(f"a.ndjson.{end}", lambda pack=pack: io.BytesIO(pack(b'{"a":1}\n{}')))  # type: ignore[misc]
        assert list(json_lines(file, "auto")) == [b'{"a":1}\n', b"{}"]


@pytest.mark.parametrize("end", PACK)
def test_bare_strings_are_texts_in_every_compressed_json(end: str) -> None:
    assert [row.text for row in read(f"a.json.{end}", PACK[end](b'"a"\n{"text":"b"}\n'))] == ["a", "b"]


def test_a_format_of_rows_names_what_it_cannot_be() -> None:
    for content in (b"PAR1....", b"PK\3\4....", b"ARROW1\0\0"):
        with pytest.raises(
            BadFileError, match=r"^a: warc is read from plain, .* content is (parquet|zip|arrow); unpack"
        ):
            read("a", content, format="warc")
    with pytest.raises(BadFileError, match=r"jsonl\.gz promises gzip bytes, but the content is plain"):
        read("a", b"{}", format="jsonl.gz")
    with pytest.raises(BadFileError, match="parquet promises parquet bytes, but the content is gzip"):
        read("a", PACK["gz"](every_format()["a.parquet"]), format="parquet")


@pytest.mark.parametrize("found", UNREAD)
def test_a_compression_that_is_not_read_is_named_whatever_the_name_of_the_file(found: str) -> None:
    ends = ("jsonl", "csv", "tsv", "txt", "warc", "warc.wet")
    names = [f"a.{end}{packed}" for end in ends for packed in ("", ".gz", ".zst", ".bz2", ".xz", ".lz4")]
    for name, declared in (*((name, "auto") for name in names), ("a", "jsonl"), ("a", "txt"), ("a", "csv")):
        with pytest.raises(BadFileError) as refused:
            read(name, UNREAD[found], format=declared)
        message = str(refused.value)
        assert message.startswith(f"{name}: ")
        assert f"but the content is {found}; " in message
        assert "unpack the file" in message
        assert "is read from plain, gzip, zstd, bzip2, xz, lz4 bytes" in message
    for name in ("a.parquet", "a.arrow", "a.jsonl.zst.tar"):
        with pytest.raises(BadFileError, match=r"but the content is .* unpack the file"):
            read(name, UNREAD[found])


def test_texts_may_begin_with_letters_of_a_container() -> None:
    for content in (b"BZh9 is how bzip2 begins", b"FEA1", b"PAR1", b"7zip", b"Rar!", b"LZIP", b"]", b"x"):
        assert [row.text for row in read("a", content, format="txt")] == [content.decode()]


def test_frames_that_say_nothing_may_come_first() -> None:
    notes = b"\x51\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"notes"
    long = b"\x51\x2a\x4d\x18" + (600).to_bytes(4, "little") + bytes(600)
    for end in ("zst", "lz4"):
        packed = PACK[end](b'{"text":"a"}')
        assert [row.text for row in read("a", notes + notes + packed, format="jsonl")] == ["a"]
        assert [row.text for row in read(f"a.jsonl.{end}", long + packed)] == ["a"]


def test_a_window_over_the_limit_names_the_option_that_allows_it() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    wide = compressor.compress(b'{"text":"a"}\n') + compressor.flush()
    with pytest.raises(
        BadFileError, match=r"^a\.jsonl\.zst: zstd window is over the limit of 134217728 bytes \(`largest_window` of"
    ):
        read("a.jsonl.zst", wide)
    (row,) = read("a.jsonl.zst", wide, options=FormatOptions(window=1 << 28))
    assert row.text == "a"
