"""The encoding that a page declares: the cases of the HTML Standard's prescan."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.raw.web.charsets import read
from corpus_assets.raw.web.prescan import declared

KOI = b'<meta charset="koi8-r">'


@pytest.mark.parametrize(
    ("page", "encoding"),
    [
        (KOI, "koi8-r"),
        (b"<!DOCTYPE html><html><head><META\nCHARSET = KOI8-R >", "koi8-r"),
        (b"<meta/charset='koi'/>", "koi8-r"),
        (b"<meta charset=koi8-r", None),
        (b"<meta charset>", None),
        (b"<metacharset=koi8-r>", None),
        (b"<meta charset=nonsense>" + KOI, "koi8-r"),
        (b"<meta charset=utf-16le>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=a charset=koi8-r>", None),
        (b'<meta http-equiv="content-type" content="text/html; charset=koi8-r">', "koi8-r"),
        (b"<meta content=\"text/html;charset='koi8-r'\" http-equiv=Content-Type>", "koi8-r"),
        (b'<meta http-equiv="content-type" content="charset charset = koi8-r ; x">', "koi8-r"),
        (b'<meta http-equiv="content-type" content="text/html">', None),
        (b'<meta http-equiv="refresh" content="0; charset=koi8-r">', None),
        (b'<meta name="keywords" content="charset=koi8-r, utf-8">', None),
        (b'<meta name="description" content="how to set charset">' + KOI, "koi8-r"),
        (b'<meta content="charset=koi8-r">', None),
        (b"<!-- " + KOI + b" --><meta charset=euc-kr>", "euc-kr"),
        (b"<!-->" + KOI, "koi8-r"),
        (b"<!-- <p> " + KOI, None),
        (b"<script>var a = '<meta charset=koi8-r>'</script><meta charset=euc-kr>", "euc-kr"),
        (b"<script><!-- a <b --></script>" + KOI, "koi8-r"),
        (b"<style>/* <meta charset=koi8-r> */</style><title>a <meta charset=big5></title>", None),
        (b"<script src=a>" + KOI, None),
        (b'<a title="<meta charset=koi8-r>"><meta charset=euc-kr>', "euc-kr"),
        (b"<?php " + b"<meta x>" + KOI, "koi8-r"),
        (b"<! a>" + KOI, "koi8-r"),
        (b"a < b " + KOI, "koi8-r"),
        (b'<?xml version="1.0" encoding="koi8-r"?>', "koi8-r"),
        (b"<?xml encoding\t=\n'KOI8-R'?>", "koi8-r"),
        (b'<?xml encoding="utf-16"?>', "utf-8"),
        (b'<?xml encoding=" koi8-r"?>', None),
        (b"<?xml encoding=koi8-r?>", None),
        (b' <?xml encoding="koi8-r"?>', None),
        (b'<?xml encoding="big5"?>' + KOI, "koi8-r"),
        ('<?xml encoding="big5"?>'.encode("utf-16-le"), "utf-16le"),
        ('<?xml encoding="big5"?>'.encode("utf-16-be"), "utf-16be"),
    ],
)
def test_declarations(page: bytes, encoding: str | None) -> None:
    assert declared(page) == encoding


@given(
    st.lists(
        st.sampled_from([b"<", b">", b"meta", b" ", b"charset", b"=", b'"', b"'", b"/", b"koi8-r", b"!--", b"-", b"\0"])
    )
)
def test_any_beginning_has_an_end(pieces: list[bytes]) -> None:
    declared(b"".join(pieces))


def test_a_late_declaration_counts_if_the_page_is_not_utf_8() -> None:
    filler = b"<!-- " + b"x" * 2000 + b" -->"
    assert read(filler + KOI + "да".encode("koi8-r"), None, is_html=True).text.endswith("да")
    assert read(filler + KOI + "да".encode(), None, is_html=True).text.endswith("да")
    assert read(KOI + "да".encode("koi8-r"), "no such", is_html=True).encoding == "koi8-r"
    assert read(KOI + "да".encode("cp1251"), "windows-1251", is_html=True).text.endswith("да")
    assert read(KOI, None, is_html=False).encoding == "utf-8"
