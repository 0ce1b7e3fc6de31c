import base64
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.binary import binary_kind
from corpus_assets.raw.readers import BadRow, Limits, RawFile, RowRules, read_documents
from corpus_assets.raw.rows.faults import PassedOver
from corpus_assets.raw.rows.rules import FormatOptions
from corpus_assets.raw.web import charsets, extractors, libraries
from corpus_assets.raw.web.extractors import MOST_NESTED, nesting
from resources.errors import BadFileError, ConfigError, StorageError
from resources.formats.documents import Document
from tests.raw.warc_files import conversion, record, response, zipped

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(
    lambda text: text.strip() and binary_kind(text.encode()) is None
)


def read(name: str, content: bytes, library: Any = None, limits: Limits | None = None) -> list[Document | BadRow]:
    rules = RowRules("s", options=FormatOptions(extractors=(library,) if library else ()))
    return list(read_documents(RawFile(name, lambda: io.BytesIO(content)), rules, limits or Limits()))


def shown(rows: list[Document | BadRow]) -> list[str]:
    return [row.text if isinstance(row, Document) else row.reason for row in rows]


def metadata(row: object) -> dict[str, Any]:
    assert isinstance(row, Document), row
    return dict(json.loads(bytes(row.metadata)))


def extras(name: str) -> None:
    try:
        version(name)
    except PackageNotFoundError:
        pytest.skip(f"the extra with {name} is not installed")


@pytest.mark.parametrize("suffix", ["warc", "warc.gz", "warc.zst", "warc.wet.gz"])
@given(texts=st.lists(TEXTS, max_size=4))
def test_texts_survive(suffix: str, texts: list[str]) -> None:
    records = [record("warcinfo", b"software: x\r\n", WARC_Filename="crawl.warc.gz")]
    records += [conversion(text.replace("\ufeff", ""), f"https://e.org/{n}") for n, text in enumerate(texts)]
    plain = b"".join(records)
    packed = {"warc": plain, "warc.zst": zstandard.compress(plain)}.get(suffix, zipped(records))
    info, *found = read(f"x/a.{suffix}", packed)
    assert isinstance(info, PassedOver)
    expected = [text.replace("\ufeff", "") for text in texts]
    assert shown(found) == [text if text.strip() else "empty_record" for text in expected]
    for row in found:
        if isinstance(row, Document):
            values = metadata(row)
            assert (values["warc_filename"], values["warc_date"]) == ("crawl.warc.gz", "2024-05-06T07:08:09Z")
            assert plain[values["uncompressed_offset"] :].startswith(b"WARC/1.0\r\n")
            assert f"WARC-Target-URI: {values['warc_url']}".encode() in plain[values["uncompressed_offset"] :][:300]


def test_a_fault_of_the_machine_names_the_page(own: Callable[[str], None]) -> None:
    own("def text(page):\n    if 'big' in page: raise MemoryError\n    return page\n")
    pages = response(b"<p>small</p>", kind="text/html") + response(b"<p>big</p>", kind="text/html")
    with pytest.raises(StorageError, match=r"x/a\.warc record 2 at byte \d+: .*the machine failed: MemoryError$"):
        read("x/a.warc", pages, "own_pages:text")


def test_values_of_a_response() -> None:
    digest = base64.b32encode(hashlib.sha1(b"caf\xe9").digest()).decode().lower()
    (found,) = read("x/a.warc", response(b"caf\xe9", kind="Text/Plain; charset='latin1'"))
    assert isinstance(found, Document)
    assert (found.id, found.text, found.created) == (digest, "café", "2024-05-06T07:08:09Z")
    assert metadata(found) == {
        "warc_url": "https://example.org/a",
        "url": "example.org/a",
        "warc_date": "2024-05-06T07:08:09Z",
        "warc_filename": "a.warc",
        "content_type": "text/plain",
        "uncompressed_offset": 0,
    }
    given_digest = conversion("t", WARC_Payload_Digest="sha1:ABC")
    assert [row.id for row in read("a.warc", given_digest) if isinstance(row, Document)] == ["abc"]


def test_records_without_a_document_are_passed_over_and_counted() -> None:
    records = [
        record("request", b"GET / HTTP/1.1\r\n\r\n"),
        record("metadata", b"fetchTimeMs: 1\r\n"),
        record("revisit", b"HTTP/1.1 200 OK\r\n\r\n"),
        record("resource", b"1 2 3", Content_Type="text/dns"),
        record("resource", b"a text", Content_Type="text/plain"),
        record("response", b"", Content_Type="application/http"),
        response(b"\xff\xd8", kind="image/jpeg"),
        response(b"gone", status="404 Not Found"),
        response(b" \n"),
        record("response", b"spam", Content_Type="application/http"),
        record("conversion", b"part", WARC_Segment_Number="1"),
    ]
    found = read("a.warc.gz", zipped(records))
    assert shown(found) == [
        *("not_a_document", "not_a_document", "not_a_document", "not_text", "a text", "empty_record", "not_text"),
        *("http_status", "no_text_found", "bad_http", "segmented_record"),
    ]
    passed = [isinstance(row, PassedOver) for row in found]
    assert passed == [True, True, True, True, False, True, True, True, True, False, False]


def test_a_cut_file_is_never_a_short_file() -> None:
    records = [conversion("first"), conversion("second text")]
    for name, whole in (("a.warc.gz", zipped(records)), ("a.warc", b"".join(records))):
        good = 0
        for cut in range(1, len(whole)):
            try:
                found = read(name, whole[:cut])
            except BadFileError as error:
                assert error.where.startswith(name)
                continue
            good += 1
            complete = len(zipped(records[:1])) if name.endswith("gz") else len(records[0]) - 4
            assert shown(found) == (["first", "second text"] if cut > complete + 4 else ["first"])
        assert good <= 10  # at the end of a whole record, and in the line ends after it


@pytest.mark.parametrize("length", [1, 4, 6, 9, 20, 10_000, 10**17])
def test_a_wrong_length_is_a_bad_file_that_names_the_record(length: int) -> None:
    content = conversion("before") + record("conversion", b"wrong", length, Content_Type="text/plain") + conversion("x")
    with pytest.raises(BadFileError) as refused:
        read("a.warc", content)
    assert refused.value.where.startswith("a.warc record ") and " at byte " in refused.value.where


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"garbage\r\n\r\n", "begins with 'garbage'"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "begins with 'HTTP"),
        (b"WARC/1.0\r\nContent-Length: x\r\n\r\n", "Content-Length is 'x'"),
        (b"WARC/1.0\r\nWARC-Type: response\r\n\r\n", "Content-Length is ''"),
        (b"WARC/1.0\r\nContent-Length: -1\r\n\r\n", "Content-Length is '-1'"),
        (b"WARC/1.0\r\nA: " + b"a" * 70_000, "more than 65536 bytes"),
        (b"WARC/1.0\r\n" + b"A: b\r\n" * 20_000, "more than 65536 bytes"),
        (b"WARC/1.0\r\nContent-", "headers are cut"),
    ],
)
def test_what_is_no_record(content: bytes, message: str) -> None:
    with pytest.raises(BadFileError, match=message):
        read("a.warc", content)


@given(position=st.integers(0), flip=st.integers(1, 255))
def test_damaged_gzip_is_never_a_short_file(position: int, flip: int) -> None:
    damaged = bytearray(zipped([conversion("first"), conversion("second")]))
    damaged[position % len(damaged)] ^= flip
    try:
        found = read("a.warc.gz", bytes(damaged))
    except BadFileError:
        return
    assert shown(found) == ["first", "second"]  # the flipped bit says nothing, such as the name of a system


def chunked(content: bytes, size: int = 5) -> bytes:
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    return b"".join(b"%x;a=b\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


TEXT = b"one text that is sent in several ways, one after another. " * 3
RAW_DEFLATE = zlib.compressobj(wbits=-15)
ENCODED = {
    "gzip": gzip.compress(TEXT, mtime=0),
    "x-gzip": gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]),
    "deflate": zlib.compress(TEXT),
    "Deflate": RAW_DEFLATE.compress(TEXT) + RAW_DEFLATE.flush(),
    "zstd": zstandard.compress(TEXT),
    "identity": TEXT,
    "gzip, identity": gzip.compress(TEXT),
    "deflate, gzip": gzip.compress(zlib.compress(TEXT)),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_content_is_decoded(encoding: str) -> None:
    body = ENCODED[encoding]
    for sent, http in ((body, {}), (chunked(body), {"Transfer_Encoding": "chunked"})):
        assert shown(read("a.warc", response(sent, Content_Encoding=encoding, **http))) == [TEXT.decode()]


PLAIN = "Content-Type: text/plain"
KOI8 = "да".encode("koi8-r")


@pytest.mark.parametrize(
    ("lines", "body", "text"),
    [
        (
            [PLAIN, "Content-Encoding: deflate", "Content-Encoding: gzip"],
            gzip.compress(zlib.compress(TEXT), mtime=0),
            TEXT,
        ),
        ([PLAIN, "Content-Encoding: gzip", "content-encoding: gzip"], gzip.compress(TEXT, mtime=0), TEXT),
        ([PLAIN, "Transfer-Encoding: gzip", "Transfer-Encoding: chunked"], chunked(gzip.compress(TEXT, mtime=0)), TEXT),
        ([PLAIN, *["Transfer-Encoding: chunked"] * 2], chunked(b"3\nabc\n0\n"), b"3\nabc\n0\n"),
        (["Content-Type: application/x, text/plain; charset=koi8-r"], KOI8, "да".encode()),
        (["Content-Type: text/plain; charset=koi8-r", PLAIN], KOI8, "да".encode()),
        (['Content-Type: text/plain; x="a,b/c"; charset=koi8-r, */*, none'], KOI8, "да".encode()),
        (["Content-Type: text/html; charset=koi8-r", PLAIN], "да".encode(), "да".encode()),
    ],
    ids=str,
)
def test_headers_that_are_there_several_times_are_one_list(lines: list[str], body: bytes, text: bytes) -> None:
    block = "\r\n".join(["HTTP/1.1 200 OK", *lines, "", ""]).encode() + body
    assert shown(read("a.warc", record("response", block, Content_Type="application/http"))) == [text.decode()]


def test_content_that_the_crawler_decoded_is_taken_as_it_is() -> None:
    http = {"Content_Encoding": "gzip", "Transfer_Encoding": "chunked"}
    assert shown(read("a.warc", response(b"plain text", **http))) == ["plain text"]
    assert shown(read("a.warc", response(b"<b>", Content_Encoding="br"))) == ["<b>"]


@pytest.mark.parametrize(
    ("body", "http", "reason"),
    [
        (ENCODED["gzip"][:-9], {"Content_Encoding": "gzip"}, "bad_encoding"),
        (b"\x1f\x8bxx", {"Content_Encoding": "gzip"}, "bad_encoding"),
        (zstandard.compress(TEXT)[:-9] + b"123", {"Content_Encoding": "zstd"}, "bad_encoding"),
        (b"\x0b\x02\x80", {"Content_Encoding": "br"}, "unknown_encoding"),
        (b"a", {"Content_Encoding": "gzip," * 9}, "unknown_encoding"),
        (b"5\r\nabc", {"Transfer_Encoding": "chunked"}, "bad_chunks"),
        (b"3\r\nabc\r\nzz", {"Transfer_Encoding": "chunked"}, "bad_chunks"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_content_that_cannot_be_decoded_is_a_bad_row(body: bytes, http: dict[str, str], reason: str) -> None:
    assert shown(read("a.warc", response(body, **http) + conversion("next"))) == [reason, "next"]


def test_what_the_crawler_cut_is_read_as_far_as_it_goes() -> None:
    sent = response(gzip.compress(b"a" * 99 + b"b" * 99, 0)[:-50], Content_Encoding="gzip")
    (found,) = read("a.warc", sent.replace(b"WARC-Date", b"WARC-Truncated: length\r\nWARC-Date"))
    assert isinstance(found, Document) and found.text.startswith("a" * 99 + "b")
    assert metadata(found)["warc_truncated"] == "length"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd", "gzip, gzip"])
def test_bombs_go_off_in_no_more_memory_than_a_row_may_have(encoding: str) -> None:
    pack: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "zstd": zstandard.compress,
    }
    body = b"0" * 3_000_000
    for name in encoding.split(", "):
        body = pack[name](body)
    content = response(body, Content_Encoding=encoding)
    assert shown(read("a.warc", content, limits=Limits(line_bytes=1_000_000))) == ["too_large"]
    assert shown(read("a.warc", content, limits=Limits(ratio=10, free_bytes=1000))) == ["too_large"]
    assert shown(read("a.warc", content)) == ["0" * 3_000_000]
    with pytest.raises(BadFileError, match="decompresses to more than"):
        read("a.warc.gz", gzip.compress(conversion("0" * 3_000_000)), limits=Limits(ratio=10, free_bytes=1000))


def test_a_record_that_is_too_long_is_a_bad_row() -> None:
    content = conversion("a" * 101) + conversion("b" * 100)
    assert shown(read("a.warc", content, limits=Limits(line_bytes=100))) == ["record_too_long", "b" * 100]


@pytest.mark.parametrize(
    ("content", "told", "text"),
    [
        ("é ü".encode(), None, "é ü"),
        (b"caf\xe9", None, "café"),
        (b"\x93quoted\x94", "ISO-8859-1", "“quoted”"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        ("中文".encode("gb18030"), "gb2312", "中文"),
        (b'<meta charset="koi8-r">' + "да".encode("koi8-r"), None, '<meta charset="koi8-r">да'),
        (
            b"<META http-equiv=Content-Type content='text/html; charset=windows-1251'/>" + "да".encode("cp1251"),
            None,
            None,
        ),
        (b'<?xml version="1.0" encoding="euc-kr"?>' + "한".encode("euc_kr"), None, None),
        (b'<meta charset="utf-16">' + "é".encode(), None, '<meta charset="utf-16">é'),
        ("\ufeffé".encode("utf-16-le"), "latin1", "é"),
        (b"ok \xff", "utf-8", "ok \ufffd"),
        (b"7a6970", "zip", "7a6970"),
        (b"\\u0041", "unicode_escape", "\\u0041"),
        (b"a", "x" * 10_000, "a"),
        (b"a", "utf\x00-8", "a"),
    ],
)
def test_charsets(content: bytes, told: str | None, text: str | None) -> None:
    found = charsets.read(content, told, is_html=True).text
    assert found == text if text is not None else "\ufffd" not in found and found[-1] in "а한"


PAGE = (
    "<html><head><title>T</title><meta charset=latin1></head><body><nav><ul><li><a href=/>Home</a></li></ul></nav>"
    "<article><h1>Of rivers</h1>"
    + "".join(
        f"<p>{n} The river was wide there, and the café on its bank closed early in the winter months of the year.</p>"
        for n in ("One.", "Two.", "Three.", "Four.")
    )
    + "</article><script>var secret = 1</script><footer>Imprint</footer></body></html>"
)


@pytest.mark.parametrize("library", ["resiliparse", "trafilatura"])
def test_main_text_of_a_page(library: str) -> None:
    extras(library)
    found = read("a.warc.gz", zipped([response(PAGE.encode("latin-1"), kind="text/html")]), library)
    (text,) = shown(found)
    assert text.count("the café on its bank") == 4
    assert "secret" not in text and "Imprint" not in text


@pytest.mark.parametrize("library", ["resiliparse", "trafilatura"])
@pytest.mark.parametrize("page", [b"<", b"<html", b"\0\0", b"<p>" * 9999, b"&#x110000;<b>" * 9, b"\xff\xfe<p>", b"]]>"])
def test_broken_pages_are_rows_or_counted(library: str, page: bytes) -> None:
    extras(library)
    (first, second) = read("a.warc", response(page, kind="text/html") + conversion("next"), library)
    assert isinstance(first, Document | BadRow)
    assert isinstance(second, Document)


def test_pages_that_nest_too_deep_are_bad_rows() -> None:
    extras("resiliparse")
    deep = b"<div>" * 100_000 + b"text"
    found = read("a.warc", response(deep, kind="text/html"), "resiliparse")
    assert shown(found) == ["html_too_deep"]
    assert nesting("<ul><li>a<li>b</ul><p>a<p>b<br><img><table><tr><td><tr><td></table>" * 999) < MOST_NESTED
    assert nesting("<b>" * 600) == 600


def test_html_without_an_extractor_is_a_fault_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="holds HTML, and its source has no `extractor`; valid: combined"):
        read("a.warc", response(b"<p>a", kind="text/html"))

    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(libraries, "version", absent)
    extractors.extractor.cache_clear()
    with pytest.raises(ConfigError, match=r"install the extra: pip install 'corpus-assets\[trafilatura\]'"):
        read("a.warc", response(b"<p>a", kind="text/html"), "trafilatura")


def test_records_are_those_that_fastwarc_finds() -> None:
    extras("fastwarc")
    from fastwarc.warc import ArchiveIterator

    records = [response(b"x" * n, url=f"https://e.org/{n}") for n in (1, 5000, 100_000)] + [conversion("t")]
    theirs = [
        (record.headers["WARC-Target-URI"], record.stream_pos)
        for record in ArchiveIterator(io.BytesIO(b"".join(records)))
    ]
    found = [metadata(row) for row in read("a.warc", b"".join(records))]
    assert [(values["warc_url"], values["uncompressed_offset"]) for values in found] == theirs
