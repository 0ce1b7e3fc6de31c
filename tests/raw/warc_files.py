"""WARC files for tests."""

import gzip
from collections.abc import Sequence


def record(kind: str, block: bytes, length: int | None = None, /, **headers: str) -> bytes:
    """A record; `length` is what it says of itself. headers: names with `_` for `-`."""
    given = {"WARC-Type": kind, "WARC-Date": "2024-05-06T07:08:09Z", "Content-Length": str(length or len(block))}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return b"WARC/1.0\r\n" + lines.encode() + b"\r\n" + block + b"\r\n\r\n"


def response(
    body: bytes, *, url: str = "https://example.org/a", kind: str = "text/plain", status: str = "200 OK", **http: str
) -> bytes:
    """A record of an HTTP response."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in {"Content_Type": kind, **http}.items())
    block = f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body
    return record("response", block, WARC_Target_URI=url, Content_Type="application/http; msgtype=response")


def conversion(text: str, url: str = "https://example.org/a", **headers: str) -> bytes:
    """A record of a WET file."""
    return record("conversion", text.encode(), WARC_Target_URI=url, Content_Type="text/plain", **headers)


def zipped(records: Sequence[bytes]) -> bytes:
    """A file with a gzip member per record."""
    return b"".join(gzip.compress(one, mtime=0) for one in records)
