"""Raw files in every format, attributes that somebody else made, and pages of the web."""

import io
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

from corpus_assets.attributes.files.rows import RowKeys, given_rows
from corpus_assets.attributes.files.values import BadValueError, Keys, spans_of
from corpus_assets.raw.formats.parquet_pages import PageError, page_header
from corpus_assets.raw.readers import Limits, RawFile
from corpus_assets.raw.web.extractors import nesting
from corpus_assets.raw.web.headers import HeaderError, read_headers
from resources.errors import CorpusError
from resources.raw_places import web
from tests.fuzz.harness import Harness
from tests.raw.every_format import every_format
from tests.raw.test_damaged import LIMITS, READINGS
from tests.raw.warc_files import response

KEYS = RowKeys("attributes.0", "id", "attributes", None)
_WORDS = (b'"text": ', b'"id": ', b"null", b"[[[[", b'{"', b"\\ud800", b"1e999", b"\xef\xbb\xbf", b"\r\n", b"-1")


def _reader(name: str) -> Callable[[bytes], None]:
    def read(content: bytes) -> None:
        for reading in READINGS[1:]:
            with suppress(CorpusError):
                deque(reading(name, content), maxlen=0)
        deque(READINGS[0](name, content), maxlen=0)

    return read


def _attributes(name: str) -> Callable[[bytes], None]:
    def read(content: bytes) -> None:
        keys = Keys("e")
        for row in given_rows(RawFile(name, lambda: io.BytesIO(content)), "auto", Limits(line_bytes=1 << 16), KEYS):
            spans_of(row.values, 100, keys)

    return read


def _attribute_seeds() -> list[bytes]:
    rows = (
        b'{"id": "a", "attributes": {"x": [[0, 3, 1.5]], "y": true, "z": "label", "n": -2}}\n',
        b'{"id": "b", "attributes": {"x": [], "w": 1e30}}\n{"id": "c", "attributes": {}}\n',
    )
    return list(rows)


def _urls(content: bytes) -> Iterator[str]:
    for line in content.decode(errors="replace").split("\n"):
        yield web._url("https://example.org/a/list.txt", line, "list")


def _of(name: str) -> Harness:
    return Harness(f"raw-{name.replace('.', '-')}", _reader(name), lambda: [every_format()[name]], words=_WORDS)


HARNESSES = [
    *map(_of, sorted(every_format())),
    Harness("attributes", _attributes("a.jsonl"), _attribute_seeds, (CorpusError, BadValueError), _WORDS),
    Harness("parquet-page", page_header, lambda: [bytes([0x15, 0, 0x15, 8, 0x15, 8, 0])], (PageError,)),
    Harness(
        "headers",
        lambda content: read_headers(io.BytesIO(content)),
        lambda: [response(b"a")],
        (HeaderError, CorpusError),
    ),
    Harness("html-nesting", lambda content: nesting(content.decode(errors="replace")), lambda: [b"<p><b>a</b></p>"]),
    Harness("list-of-urls", lambda content: list(_urls(content)), lambda: [b"b.jsonl?x=1\nhttps://other.org:8/c.gz"]),
]
assert LIMITS.free_bytes <= 1 << 20  # Else an input may cost far more memory than a harness has.
