"""The compiled reading of JSON strings and of UTF-8 equals Python's and msgspec's, on anything."""

import json
from io import BytesIO

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from resources.formats.documents import Document, decode_document, encode_document
from resources.formats.kernels.json_text import document_texts as compiled_texts
from resources.formats.kernels.utf8 import is_utf8
from resources.formats.texts import BLOCK_BYTES, Texts, batches, document_texts, joined, whole_lines

EDGES = bytes.fromhex("00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ed ee ef f0 f1 f4 f5 ff")
TEXT = st.text(
    st.one_of(st.sampled_from('a"\\/\n\r\t\x00\x1f\x7f\u0130\u4e2d\ufffd\U0001f600'), st.characters(codec="utf-8"))
)
LONG = st.builds(lambda text, times: text * times, TEXT, st.integers(1, 40))


def listed(texts: Texts) -> list[bytes]:
    return [texts.of(number) for number in range(len(texts.bounds) - 1)]


def array(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


def decodes(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(st.one_of(st.binary(max_size=12), st.lists(st.sampled_from(EDGES), max_size=9).map(bytes)))
@example(b"")
@example("\U0001f600".encode()[:3])
def test_utf8_is_what_python_decodes(content: bytes) -> None:
    for padded in (content, b"a" * 70 + content, content + b"b" * 70):
        assert is_utf8(array(padded)) == decodes(padded)


@given(st.lists(LONG, max_size=5), st.booleans())
def test_texts_of_documents(texts: list[str], escaped: bool) -> None:
    documents = [
        Document(f'i"\\{n}', text, "s", created="2020", metadata=msgspec.Raw(b'{"text":"x"}'))
        for n, text in enumerate(texts)
    ]
    lines = [encode_document(document) for document in documents]
    if escaped:
        lines = [json.dumps(json.loads(line), separators=(",", ":")).encode() + b"\n" for line in lines]
    assert listed(document_texts(b"".join(lines))) == [text.encode() for text in texts]


@pytest.mark.parametrize(
    "line",
    [
        '{"text":"other order","id":"a","source":"s"}',
        '{"id": "spaces", "text": "a", "source": "s"}',
        '{"id":"a","text":"half \\ud83d\\ude00","source":"s"}',
        '{"id":"a","text":"a\\/b \\u0041\\u00e9\\u4e2d\\b\\f\\r","source":"s"}',
        '{"id":"a","text":"","source":"s","more":[1]}',
    ],
)
def test_lines_in_other_shapes(line: str) -> None:
    usual = encode_document(Document("a", "usual", "s"))
    block = usual + line.encode() + b"\n" + usual
    expected = [decode_document(found + b"\n").text.encode() for found in block.split(b"\n")[:-1]]
    assert listed(document_texts(block)) == expected


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"a","text":"a',
        b'{"id":"a","text":"\\',
        b'{"id":"a","text":"\\u00',
        b'{"id":"a","text":"\\x41","source":"s"}',
        b'{"id":"a","text":"\x01","source":"s"}',
        b'{"id":"a","text":"\xff","source":"s"}',
        b'{"id":"a\\',
        b'{"id":"a","text":1,"source":"s"}',
        b"{}",
        b"",
    ],
)
def test_lines_that_are_no_documents(line: bytes) -> None:
    usual = encode_document(Document("a", "usual", "s"))
    for block in (line + b"\n", usual + line + b"\n" + usual):
        out, bounds = np.empty(len(block), np.uint8), np.empty(block.count(b"\n") + 1, np.int64)
        assert compiled_texts(array(block), out, bounds) == -1
        with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
            document_texts(block)


def test_batches_hold_so_many_texts_or_bytes() -> None:
    texts = ["a" * (BLOCK_BYTES // 2)] * 3 + ["b", "", "c\ud800"] * 2
    found = list(batches(texts, 4))
    assert [len(batch.bounds) - 1 for batch in found] == [2, 4, 3]
    assert [text for batch in found for text in listed(batch)] == [
        text.encode("utf-8", "surrogatepass") for text in texts
    ]
    assert listed(joined([])) == []


@pytest.mark.parametrize("sizes", [[], [1], [BLOCK_BYTES], [BLOCK_BYTES * 3, 5, BLOCK_BYTES - 1], [9] * 100_000])
@pytest.mark.parametrize("end", [b"", b"no newline"])
def test_blocks_are_of_whole_lines(sizes: list[int], end: bytes) -> None:
    content = b"".join(b"a" * (size - 1) + b"\n" for size in sizes) + end
    blocks = list(whole_lines(BytesIO(content)))
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(len(block) <= 2 * BLOCK_BYTES + max(sizes, default=0) for block in blocks)
