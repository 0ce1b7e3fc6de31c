"""Web pages in WARC files to documents, over the extractor alone: `python -m benchmarks.warc [--quick] [--json]`.

A file with a gzip member per response, as crawlers write it, is read from memory to documents: records, HTTP, charset,
resiliparse (extra `warc`), ids, limits. The extractor alone gets the same pages as text. Both take turns in CPU-seconds
of one core; the least of several rounds counts. The pages are those of the shared data when they lie beside the
checkout, else the documents of a corpus, a paragraph per line.

`warc_floor_over_extractor` is what no reader can do without: decompression by the same library, UTF-8, and the
extractor, without any record, header, digest or limit.
"""

import base64
import gzip
import hashlib
import html
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from benchmarks.minhash import load_texts
from benchmarks.printed import printed
from benchmarks.turns import best
from corpus_assets.raw.readers import BadRow, RawFile, RowRules, read_documents
from corpus_assets.raw.rows.faults import PassedOver
from corpus_assets.raw.rows.rules import FormatOptions
from corpus_assets.raw.web.charsets import read
from corpus_assets.raw.web.extractors import Extraction, extractor
from resources.formats.codecs import open_gzip
from resources.formats.documents import Document
from tests.raw.warc_files import record, zipped

LIBRARY: Final = "resiliparse"
PAGES = Path(__file__).resolve().parents[2] / "shared" / "data" / "extraction" / "html"
MEGABYTES, QUICK_MEGABYTES, ROUNDS = 32, 4, 3
HTTP = "Server: nginx\r\nDate: Mon, 06 May 2024 07:08:09 GMT\r\nContent-Type: text/html; charset=utf-8\r\n"


def measure(quick: bool) -> dict[str, Any]:
    """MB of HTML per CPU-second to documents and by the extractor alone, and the ratio of their costs."""
    megabytes = QUICK_MEGABYTES if quick else MEGABYTES
    pages, corpus = _pages(megabytes)
    content = zipped([_record(page, number) for number, page in enumerate(pages)])
    extract = extractor(Extraction((LIBRARY,)))
    bodies = b"".join(page.encode() for page in pages)
    packed = zipped([page.encode() for page in pages])
    contenders = {
        "documents": lambda: _drain(_read(content)),
        "extractor": lambda: _drain(map(extract, pages)),
        "bytes": lambda: (open_gzip(io.BytesIO(packed)).read(), bodies.decode()),
    }
    seconds = best(contenders, 1 if quick else ROUNDS)
    found = [row for row in _read(content) if not isinstance(row, PassedOver)]
    assert found and all(isinstance(row, Document) for row in found)
    size = sum(len(page.encode()) for page in pages) / 1e6
    return {
        "corpus": corpus,
        "html_mb": round(size, 1),
        "warc_documents": len(found),
        **{f"warc_{name}_mb_per_cpu_s": round(size / seconds[name], 2) for name in ("documents", "extractor")},
        "warc_over_extractor": round(seconds["documents"] / seconds["extractor"], 3),
        "warc_floor_over_extractor": round(1 + seconds["bytes"] / seconds["extractor"], 3),
    }


def _pages(megabytes: int) -> tuple[list[str], str]:
    """About so much HTML, again and again if there is less, and what it is of."""
    if PAGES.is_dir():
        packed = [gzip.decompress(path.read_bytes()) for path in sorted(PAGES.glob("*.html.gz"))]
        pages, corpus = [read(page, None, is_html=True).text for page in packed], "real pages"
    else:
        texts, corpus = load_texts(megabytes)
        pages = [_page(text) for text in texts]
    size = sum(map(len, pages))
    return pages * max(1, round(megabytes * 1e6 / size)), corpus


def _record(page: str, number: int) -> bytes:
    """A response with the headers of WARC and HTTP that crawlers keep."""
    body = page.encode()
    digest = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    block = f"HTTP/1.1 200 OK\r\n{HTTP}Content-Length: {len(body)}\r\n\r\n".encode() + body
    of_record = {"WARC_Target_URI": f"https://example.org/{number}", "WARC_Payload_Digest": f"sha1:{digest}"}
    return record("response", block, Content_Type="application/http; msgtype=response", **of_record)


def _page(text: str) -> str:
    paragraphs = "\n".join(f"<p>{html.escape(line)}</p>" for line in text.splitlines())
    return f"<!DOCTYPE html><html><head><title>A page</title></head><body><main>{paragraphs}</main></body></html>"


def _read(content: bytes) -> Iterator[Document | BadRow]:
    rules = RowRules("benchmark", format="warc", options=FormatOptions(extractors=(LIBRARY,)))
    return read_documents(RawFile("a.warc.gz", lambda: io.BytesIO(content)), rules)


def _drain(rows: Iterator[Any]) -> None:
    for _ in rows:
        pass


if __name__ == "__main__":
    printed(__doc__, measure)
