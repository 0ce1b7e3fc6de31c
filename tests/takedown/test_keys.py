"""Names of documents: how lines are read, and that a row is named if and only if one of its keys is listed."""

import hashlib

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_assets.takedown.keys import DIGEST, ID, PAIR, URL, digest_of, key_of, keys_of, plain_url
from corpus_assets.takedown.lists import all_keys, entries
from corpus_assets.takedown.rows import ROW_KEY, named_rows, packed
from resources.formats.documents import Document

SHA = "ab" * 32
NAMES = st.text(st.characters(exclude_characters="\0"), max_size=8)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("doc-1", [(ID, "doc-1")]),
        ("  doc 1 \r", [(ID, "doc 1")]),
        ("id:doc", [(ID, "doc")]),
        ("id: # no comment", [(ID, "# no comment")]),
        ("web\tdoc:1", [(PAIR, "web\tdoc:1")]),
        ("https://E.org/A/", [(ID, "https://E.org/A/"), (URL, "e.org/A")]),
        ("url: e.org/a", [(URL, "e.org/a")]),
        ("url://odd", [(ID, "url://odd"), (URL, "odd")]),
        (SHA.upper(), [(ID, SHA.upper()), (DIGEST, SHA)]),
        (f"sha256:{SHA.upper()}", [(DIGEST, SHA)]),
        ("\ufeffdoc", [(ID, "doc")]),
        ("other:doc", [(ID, "other:doc")]),
        ("# comment", []),
        ("", []),
    ],
)
def test_lines(line: str, names: list[tuple[str, str]]) -> None:
    found = list(entries({"a.txt": f"{line}\n".encode()}, ["web"]))
    assert [key for entry in found for key in entry.keys] == [key_of(kind, value) for kind, value in names]
    assert [entry.where for entry in found] == ["a.txt line 1"] * bool(names)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("HTTPS://Example.ORG/Path?Q=1#part", "example.org/Path?Q=1"),
        ("http://example.org/", "example.org"),
        ("example.org/a/", "example.org/a"),
        ("http://[::1/broken", "[::1/broken"),
        ("https://me@example.org.:443/a/../b/./%61%2f?", "example.org/b/a%2F"),
        ("//[::1]:80/..", "[::1]"),
        ("https://example.org:8080/%c3%a9 x?q=%C3%A9", "example.org:8080/%C3%A9%20x?q=%C3%A9"),
        ("https://example.org/\xe9", "example.org/%C3%A9"),
        ("https://xn--BCHER-kva.example", "b\xfccher.example"),
        ("https://b\u0075\u0308cher.example", "b\xfccher.example"),
        ("https://xn--\x80.example/\ud800", "xn--\x80.example/%ED%A0%80"),
        ("https://web.archive.org/web/http://e.org/x/", "web.archive.org/web/http://e.org/x"),
        ("", ""),
    ],
)
def test_urls_are_compared_in_one_form(url: str, plain: str) -> None:
    assert plain_url(url) == plain_url(plain) == plain


@given(
    st.text(st.sampled_from("ab/.%?#@:[]-xn4\xe9 "), max_size=16), st.sampled_from(["a.b", "a.b:443", "u@xn--4dbrk0ce"])
)
def test_the_form_of_a_url_is_one_of_its_spellings(rest: str, host: str) -> None:
    plain = plain_url(f"https://{host}/{rest}")
    assert plain_url(plain) == plain


@pytest.mark.parametrize("url", ["[ /", "a://[b", "http://[::1/x"])
def test_what_is_no_url_has_a_form_too(url: str) -> None:
    assert plain_url(plain_url(url)) == plain_url(url)


def test_keys_of_a_document() -> None:
    metadata = msgspec.Raw(b'{"url":"http://E.org/a","other":1,"warc_url":"https://e.org/a#x","link":7}')
    document = Document("1", "given", "web", metadata=metadata)
    expected = [key_of(ID, "1"), key_of(PAIR, "web\t1"), key_of(URL, "e.org/a")]
    expected += [key_of(DIGEST, hashlib.sha256(text).hexdigest()) for text in (b"given", b"normal")]
    assert list(keys_of(document, ("given", "normal"), ("url", "warc_url", "link"))) == expected
    escaped = Document("1", "t", "web", metadata=msgspec.Raw(rb'{"\u0075rl":"e.org"}'))
    assert key_of(URL, "e.org") in set(keys_of(escaped, (), ("url",)))


@given(
    rows=st.lists(st.tuples(NAMES, NAMES), max_size=8),
    listed=st.lists(st.tuples(st.sampled_from([ID, PAIR, DIGEST]), NAMES), max_size=8),
)
def test_rows_are_named_by_their_keys_alone(rows: list[tuple[str, str]], listed: list[tuple[str, str]]) -> None:
    documents = [Document(identifier, text, "web") for identifier, text in rows]
    listed += [(DIGEST, digest_of(value)) for kind, value in listed if kind == DIGEST]
    listed += [(PAIR, f"web\t{value}") for kind, value in listed if kind == PAIR]
    wanted = {key_of(kind, value) for kind, value in listed}
    keys = [list(keys_of(document, [document.text], ())) for document in documents]
    flat = b"".join(number.to_bytes(4, "little") + key for number, found in enumerate(keys) for key in found)
    found = named_rows(np.frombuffer(flat, dtype=ROW_KEY), packed(wanted))
    assert found.tolist() == [number for number, of in enumerate(keys) if wanted & set(of)]
    assert found.dtype == np.uint32


def test_the_first_of_several_lines_is_the_one_that_is_named() -> None:
    found = all_keys(entries({"a.txt": b"x\ny\n", "b.txt": b"x\n"}, None))
    assert [entry.where for entry in found.values()] == ["a.txt line 1", "a.txt line 2"]
