"""Packs the pages of `pages/` into a WARC file as a crawler writes it, with some records that are no documents."""

import gzip
from pathlib import Path

HERE = Path(__file__).parent
SITE = "https://village.example"


def record(kind: str, url: str, content: str, block: bytes) -> bytes:
    """Returns a record of a WARC file, compressed by itself."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
        f"Content-Type: {content}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


def response(url: str, kind: str, body: bytes, status: str = "200 OK") -> bytes:
    """Returns the record of what a server answered."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n\r\n"
    return record("response", url, "application/http; msgtype=response", head.encode() + body)


def crawl() -> bytes:
    """Returns the file: a request and a response for each page, a page that is gone, a PDF that is called HTML."""
    records = []
    for page in sorted((HERE / "pages").glob("*.html")):
        url = f"{SITE}/{page.stem}"
        asked = f"GET /{page.stem} HTTP/1.1\r\n\r\n".encode()
        records.append(record("request", url, "application/http; msgtype=request", asked))
        records.append(response(url, "text/html; charset=utf-8", page.read_bytes()))
    records.append(response(f"{SITE}/old", "text/html", b"<p>Not found</p>", "404 Not Found"))
    records.append(response(f"{SITE}/map", "text/html", b"%PDF-1.7\n" + bytes(range(256)) * 4))
    return b"".join(records)


if __name__ == "__main__":
    folder = HERE / "raw" / "crawl"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CC-MAIN-example.warc.gz").write_bytes(crawl())
