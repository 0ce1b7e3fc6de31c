"""Binary files under the name of a text: signatures of the MIME Sniffing Standard, and shares of characters."""

import gzip
import random
import re
import struct
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.binary import binary_kind, controls
from corpus_assets.raw.rows.faults import PassedOver
from resources.errors import BadFileError
from resources.formats.documents import Document
from tests.raw.test_warc import chunked, read, shown
from tests.raw.warc_files import conversion, record, response

NOISE = random.Random(7).randbytes(4000)
FILES = {
    "image/x-icon": b"\0\0\1\0\1\0",
    "image/bmp": b"BM\x36\x00\x0c\0\0\0",
    "image/gif": b"GIF89a\x01\0\x01\0",
    "image/webp": b"RIFF\x10\x20\0\0WEBPVP8 ",
    "image/png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "image/jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "image/tiff": b"II*\0\x08\0\0\0",
    "audio/aiff": b"FORM\0\0\x10\0AIFFCOMM",
    "audio/mpeg": b"ID3\x03\0\0\0\0",
    "application/ogg": b"OggS\0\2",
    "audio/midi": b"MThd\0\0\0\6\0\1",
    "video/avi": b"RIFF\x10\x20\0\0AVI LIST",
    "audio/wave": b"RIFF\x10\x20\0\0WAVEfmt ",
    "video/mp4": b"\0\0\0\x18ftypisom\0\0\2\0isommp42",
    "video/webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm",
    "application/vnd.ms-fontobject": struct.pack("<IIII", 999, 900, 0x20001, 0) + b"\0" * 18 + b"LP\0",
    "font/ttf": b"\0\1\0\0\0\x0c",
    "font/otf": b"OTTO\0\x0c",
    "font/collection": b"ttcf\0\2",
    "font/woff": b"wOFF\0\1\0\0",
    "font/woff2": b"wOF2\0\1\0\0",
    "application/gzip": gzip.compress(b"a text", mtime=0),
    "application/zip": b"PK\3\4\x14\0",
    "application/x-rar-compressed": b"Rar!\x1a\7\0",
    "application/pdf": b"%PDF-1.4\n1 0 obj\n",
    "application/postscript": b"%!PS-Adobe-3.0\n/x 1 def\n",
    "application/x-executable": b"\x7fELF\2\1\1\0",
    "application/x-msdownload": b"MZ\x90\0\3\0",
    "application/x-tar": b"name".ljust(257, b"\0") + b"ustar\x0000",
    "application/zstd": zstandard.compress(b"a text"),
    "application/x-7z-compressed": b"7z\xbc\xaf\x27\x1c\0\4",
    "application/x-xz": b"\xfd7zXZ\0\0\4",
    "application/x-bzip2": b"BZh91AY&SY" + b"ab" * 9,
}
MP3 = b"\xff\xfb\x90\x44" + b"a" * 413 + b"\xff\xfb\x90\x44" + b"a" * 413


@pytest.mark.parametrize("kind", FILES)
def test_files_are_no_texts_whatever_they_are_called(kind: str) -> None:
    for content in (FILES[kind], FILES[kind] + NOISE):
        assert binary_kind(content) == kind
        sent = [response(content), response(content, kind="text/html; charset=utf-8")]
        sent += [record("conversion", content, Content_Type="text/plain")]
        sent += [record("resource", content, Content_Type="text/html")]
        found = read("a.warc", b"".join(sent))
        assert shown(found) == ["binary_content"] * 4
        assert all(isinstance(row, PassedOver) and kind in row.detail for row in found)
        with pytest.raises(BadFileError, match=f"begins like {kind}|the content is"):
            read("a.txt", content)


def test_mp3_without_a_tag() -> None:
    assert binary_kind(MP3) == "audio/mpeg"
    assert binary_kind(MP3[:417] + b"no second frame") is None
    assert binary_kind("\ufeffÿû a text".encode("utf-16-le")) is None


@pytest.mark.parametrize(
    "text",
    [
        "BMW builds cars.",
        "GIF89a is a format.",
        "ID3 tags",
        "MZ begins a program",
        "OTTO",
        "PAR1 is the magic",
        "RIFF on a theme WEBP",
        "FORM and AIFF",
        "FWS 2010 report",
        "ttcf",
        "PK is a person",
        "#!AMR",
    ],
)
def test_texts_that_begin_like_a_file_stay(text: str) -> None:
    assert shown(read("a.warc", response(text.encode()) + conversion(text))) == [text, text]
    assert shown(read("a.txt", text.encode())) == [text]


@pytest.mark.parametrize("charset", ["", "; charset=utf-8", "; charset=latin1", "; charset=koi8-r", "; charset=big5"])
@pytest.mark.parametrize("size", [400, 4000])
def test_noise_is_counted_and_is_no_document(charset: str, size: int) -> None:
    found = read("a.warc", response(NOISE[:size], kind=f"text/plain{charset}") + response(NOISE[-size:]))
    assert {row.reason for row in found if isinstance(row, PassedOver)} <= {"control_characters", "undecodable"}
    assert not any(isinstance(row, Document) for row in found)


def test_a_few_control_characters_stay_and_many_do_not() -> None:
    long = "A line of text with \x08 in it, and \x1b[1mbold\x1b[0m, \x0c a page, \0 and more.\n" * 9
    texts = [long, "a\0b", "caf\u00e9 \x07", "a\0" * 33]
    assert shown(read("a.warc", b"".join(map(conversion, texts)))) == [*texts[:3], "control_characters"]
    assert shown(read("a.warc", response(b"caf\xe9 \x07 and \x7f", kind="text/plain; charset=latin1"))) == [
        "café \x07 and \x7f"
    ]
    with pytest.raises(BadFileError, match="50% of its characters are NUL"):
        read("a.txt", b"a\0" * 33)
    assert shown(read("a.txt", long.encode())) == [long]


def test_unicode_with_a_mark_is_text_and_without_is_not() -> None:
    text = "Größe und Übermaß, die schöne Müllerin. " * 5
    marked = [text.encode(codec) for codec in ("utf-16", "utf-32", "utf-8-sig")]
    assert shown(read("a.warc", b"".join(map(response, marked)))) == [text] * 3
    declared = response(text.encode("utf-16-le"), kind="text/plain; charset=utf-16le")
    assert shown(read("a.warc", declared + response(text.encode("utf-16-le")))) == [text, "control_characters"]


def test_what_a_charset_cannot_be_is_undecodable() -> None:
    wrong = response("Проверка кодировки".encode("cp1251"), kind="text/plain; charset=utf-8")
    refused = response(b"~{<:Ky2;~}", kind="text/plain; charset=hz-gb-2312")
    accents = response("Größe und Übermaß".encode("latin-1"), kind="text/plain; charset=utf-8")
    assert shown(read("a.warc", wrong + refused + accents)) == [
        "undecodable",
        "undecodable",
        "Gr\ufffd\ufffde und \ufffdberma\ufffd",
    ]


@pytest.mark.parametrize(
    ("identified", "found"),
    [
        ("application/pdf", "identified_otherwise"),
        ("image/png", "identified_otherwise"),
        ("application/vnd.ms-excel", "identified_otherwise"),
        ("text/plain", "a text"),
        ("text/x-python", "a text"),
        ("application/xhtml+xml", "a text"),
        ("application/json", "a text"),
        ("application/octet-stream", "a text"),
        ("nonsense", "a text"),
    ],
)
def test_what_a_payload_was_identified_as_is_believed(identified: str, found: str) -> None:
    sent = response(b"a text").replace(
        b"WARC-Date", f"WARC-Identified-Payload-Type: {identified}\r\nWARC-Date".encode()
    )
    assert shown(read("a.warc", sent)) == [found]


TEXT = "A text, sent in several ways, one after another, é. " * 3


@pytest.mark.parametrize("coding", ["gzip", "deflate", "x-gzip"])
def test_codings_of_the_transfer_are_undone(coding: str) -> None:
    packed = zlib.compress(TEXT.encode()) if coding == "deflate" else gzip.compress(TEXT.encode())
    for named, sent in (
        (f"{coding}, chunked", chunked(packed)),
        (coding, packed),
        (f"{coding};q=1, Chunked", chunked(packed)),
    ):
        assert shown(read("a.warc", response(sent, Transfer_Encoding=named))) == [TEXT]
    twice = chunked(gzip.compress(packed))
    assert shown(read("a.warc", response(twice, Content_Encoding=coding, Transfer_Encoding="gzip, chunked"))) == [TEXT]


@pytest.mark.parametrize(
    "coding", ["br", "utf-8", "UTF-8", "none", "gzip", "deflate", "zstd", "compress", "text/html", "br, gzip"]
)
def test_plain_text_under_the_name_of_a_coding_is_plain_text(coding: str) -> None:
    for content, kind in ((TEXT.encode(), "text/plain"), (TEXT.encode("latin-1"), "text/plain; charset=latin1")):
        assert shown(read("a.warc", response(content, kind=kind, Content_Encoding=coding))) == [TEXT]
    assert shown(read("a.warc", response(b"caf\xe9 short", Content_Encoding=coding))) == ["café short"]


BROTLI = bytes.fromhex("8b2580610f2d3a8bd0c2fd82e6c9a4e1f7") + NOISE[:300]


def test_what_is_encoded_and_cannot_be_decoded_is_counted_as_that() -> None:
    assert shown(read("a.warc", response(BROTLI, Content_Encoding="br"))) == ["unknown_encoding"]
    assert shown(read("a.warc", response(BROTLI, Content_Encoding="rot13"))) == ["unknown_encoding"]
    assert shown(read("a.warc", response(FILES["application/pdf"] + NOISE, Content_Encoding="utf-8"))) == [
        "binary_content"
    ]


@given(st.binary(max_size=40))
def test_any_bytes_are_asked(content: bytes) -> None:
    binary_kind(content)


@given(st.text(st.one_of(st.characters(max_codepoint=0x100), st.characters(), st.just("\ud800")), max_size=90))
def test_control_characters_are_counted_one_by_one(text: str) -> None:
    count = len(re.findall("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]", text))
    assert controls(text) == (f"{count / len(text):.0%}" if count > max(4, 0.05 * len(text)) else None)
