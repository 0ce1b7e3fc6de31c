"""Encodings of the web: their labels, and decoders that are those of the WHATWG Encoding Standard."""

import codecs
from importlib import import_module
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.web import encodings
from corpus_assets.raw.web.charsets import guess, read
from corpus_assets.raw.web.encodings import LABELS, decode, encoding_of


def test_all_labels_of_the_standard_are_known() -> None:
    assert (len(LABELS), len(set(LABELS.values()))) == (228, 40)
    assert all(label == label.lower() for label in LABELS)
    assert {encoding_of(label.upper()) for label in LABELS} == set(LABELS.values())
    assert encoding_of("\t UTF8\n") == "utf-8" and encoding_of("\xa0utf8") is None and encoding_of("") is None
    if find_spec("webencodings"):
        assert import_module("webencodings.labels").LABELS == LABELS


def test_every_encoding_keeps_ascii_but_those_that_browsers_refuse() -> None:
    ascii_text = "".join(map(chr, range(0x20, 0x7F))) + "\t\r\n"
    for name in set(LABELS.values()) - {"utf-16le", "utf-16be", "replacement"}:
        assert decode(ascii_text.encode(), name) == ascii_text, name
    assert (decode(b"any", "replacement"), decode(b"", "replacement")) == ("\ufffd", "")


@pytest.mark.parametrize(
    ("label", "content", "text"),
    [
        ("iso-8859-8-i", b"\xf9\xec\xe5\xed", "שלום"),
        ("windows-874", b"\xcb\xe9\xcd\xa7", "ห้อง"),
        ("windows-949", b"\x8cc\xb9\xe6", "똠방"),
        ("ks_c_5601-1987", b"\xb0\xad", "강"),
        ("koi8-ru", b"\xae\xbe", "ўЎ"),
        ("windows-31j", b"\x87@\xfa\x40\x80", "①ⅰ\x80"),
        ("sjis", b"\xa0\x81", "\ufffd\ufffd"),
        ("shift_jis", b"\xf0\x40", "\ue000"),
        ("latin1", b"\x81\x93", "\x81“"),
        ("windows-1255", b"\xca", "\u05ba"),
        ("iso-8859-3", b"\xa5", "\ufffd"),
        ("gb2312", b"\x80\xa6\xd9\x81\x30\x81\x30", "€\ufe10\x80"),
        ("gbk", b"\xff\x81\x20\x81\xff", "\ufffd\ufffd \ufffd"),
        ("gb18030", b"ok\x81\x30\x81", "ok\ufffd"),
        ("big5-hkscs", b"\xa1\x45\x8e\x69\xa3\xe1\xf9\xfe\x88\x62", "‧箸€￭\xca\u0304"),
        ("euc-jp", b"\xad\xa1\xa1\xc1\x8e\xb1\x8f\xb0\xa1\xf9\xa1", "①～ｱ丂纊"),
        ("euc-jp", b"\x80\xa0\x8f\xa1\x20\xa1", "\ufffd\ufffd\ufffd \ufffd"),
        ("iso-2022-jp", b"\x1b$B\x2d\x21\x21\x41\x1b(Jx\x1b(I\x31\x1b(Bx", "①～xｱx"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("utf-16", "é".encode("utf-16-le") + b"x", "é\ufffd"),
        ("unicodefffe", "é".encode("utf-16-be"), "é"),
        ("utf8", b"\xf0\x9f\x98 \xe2\x82", "\ufffd \ufffd"),
    ],
)
def test_decoders(label: str, content: bytes, text: str) -> None:
    encoding = encoding_of(label)
    assert encoding and decode(content, encoding) == text


@given(content=st.binary(max_size=60), name=st.sampled_from(sorted(set(LABELS.values()))))
def test_any_bytes_decode(content: bytes, name: str) -> None:
    decode(content, name).encode()


@pytest.mark.parametrize("name", sorted(encodings._SINGLE))
def test_one_byte_is_one_character(name: str) -> None:
    assert len(decode(bytes(range(256)), name)) == 256


TEXTS = {
    "windows-1251": "Проверка кодировки: слово и дело в старом городе на берегу реки.",
    "koi8-u": "Проверка кодировки: слово и дело в старом городе на берегу реки.",
    "windows-1253": "Η γρήγορη αλεπού πηδάει πάνω από το τεμπέλικο σκυλί στην Αθήνα.",
    "windows-1252": "L'élève a reçu à Noël un très beau cadeau où l'œuvre était protégée.",
    "windows-1250": "Příliš žluťoučký kůň úpěl ďábelské ódy v noci na dvoře.",
    "windows-1254": "Pijamalı hasta yağız şoföre çabucak güvendi ve İstanbul'a gitti.",
    "shift_jis": "日本語の文章です。古い町の川のそばに図書館があります。",
    "iso-2022-jp": "日本語の文章です。古い町の川のそばに図書館があります。",
    "euc-jp": "日本語の文章です。古い町の川のそばに図書館があります。",
    "gbk": "这个城市的河边有一座古老的图书馆，里面收藏了很多书。",
    "big5": "這個城市的河邊有一座古老的圖書館，裡面收藏了很多書。",
    "euc-kr": "강가에 오래된 도서관이 있습니다 그리고 많은 책이 있습니다.",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("before", ["", "<html><body><p>Of the river and the garden, and of nothing else.</p>" * 20])
def test_undeclared_charsets_are_guessed(name: str, before: str) -> None:
    text = before + TEXTS[name]
    content = text.encode({"gbk": "gb18030"}.get(name, name))
    found = read(content, None, is_html=True)
    assert (found.text, found.guessed, found.replaced) == (text, True, 0)
    assert guess(content) == guess(content)


@pytest.mark.parametrize("content", [b"grep \x1b$B out", "図書館 \x1b$B%_%e".encode(), b"\x1b[31mred\x1b[0m"])
def test_escapes_alone_are_no_charset(content: bytes) -> None:
    assert read(content, None, is_html=False)[:3] == (content.decode(), "utf-8", False)


def test_what_decoding_replaced_is_counted_and_what_a_page_spells_is_not() -> None:
    assert read("ok \ufffd".encode() + b"\xff", "utf-8", is_html=False).replaced == 1
    assert read("\ufffd".encode(), None, is_html=False).replaced == 0
    assert read(b"\x84\x31\xa4\x37\xff", "gb18030", is_html=False).replaced == 1
    assert read(codecs.BOM_UTF16_LE + "\ufffdx".encode("utf-16-le") + b"\0", None, is_html=False).replaced == 1
    assert read(b"\xa5", "iso-8859-3", is_html=False) == ("\ufffd", "iso-8859-3", False, 1)


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32", "utf-32-be"])
def test_the_mark_decides_before_http(codec: str) -> None:
    text = "Größe, 図書館"
    content = codecs.BOM_UTF32_BE + text.encode(codec) if codec.endswith("be") else text.encode(codec)
    assert read(content, "koi8-r", is_html=False)[:3] == (
        text,
        "utf-32-be"
        if codec.endswith("be")
        else {"utf-8-sig": "utf-8", "utf-16": "utf-16le", "utf-32": "utf-32-le"}[codec],
        False,
    )
