"""A web server on loopback for tests: files of a folder, with ranges, versions and faults as a test asks for them."""

import hashlib
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Site:
    """What the server does, and what it was asked.

    ranges, lengths, etags: whether it gives them. fault: says what goes wrong with the n-th GET of a path: a status, or
    the number of bytes after which the connection breaks off; None if nothing. coding: what it says that contents are
    packed with. redirects: paths that lead elsewhere. retry_after: what it asks for with a status that is a fault.
    """

    folder: Path
    ranges: bool = True
    lengths: bool = True
    etags: bool = True
    dates: bool = False
    fault: Callable[[str, int], int | None] = lambda path, number: None
    coding: str = ""
    redirects: dict[str, str] = field(default_factory=dict)
    retry_after: str = ""
    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)
    queries: list[str] = field(default_factory=list)
    tokens: set[str | None] = field(default_factory=set)
    connections: int = 0


BREAKS = 1000
"""Faults from here on are bytes after which the connection breaks off, less this; below it they are a status."""


class _Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # Else every body waits 40 ms for the client to confirm the headers.

    def setup(self) -> None:
        super().setup()
        self.site.connections += 1

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        parts, site = urlsplit(self.path), self.site
        path = unquote(parts.path).lstrip("/")
        site.asked[path] += 1
        site.queries.append(parts.query)
        site.tokens.add(self.headers.get("Authorization"))
        fault = site.fault(path, site.asked[path])
        if path in site.redirects:
            self._answer(302, b"", {"Location": site.redirects[path]})
        elif fault is not None and fault < BREAKS:
            self._answer(fault, b"", {"Retry-After": site.retry_after} if site.retry_after else {})
        elif not (site.folder / path).is_file():
            self._answer(404, b"")
        else:
            self._file(path, (site.folder / path).read_bytes(), None if fault is None else fault - BREAKS)

    def _file(self, path: str, content: bytes, breaks: int | None) -> None:
        site = self.site
        headers = {"ETag": f'"{hashlib.md5(content).hexdigest()}"'} if site.etags else {}
        if site.coding:
            headers["Content-Encoding"] = site.coding
        if site.dates:
            headers["Last-Modified"] = self.date_time_string(int((site.folder / path).stat().st_mtime))
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if site.ranges else None
        if wanted and int(wanted[1]) >= len(content):
            self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
            return
        body = content[int(wanted[1]) : int(wanted[2]) + 1] if wanted else content
        if wanted:
            headers["Content-Range"] = f"bytes {wanted[1]}-{int(wanted[1]) + len(body) - 1}/{len(content)}"
        site.sent[path] += len(body)
        self._answer(206 if wanted else 200, body, headers, breaks)

    def _answer(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, breaks: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header(
            *(("Content-Length", str(len(body))) if self.site.lengths else ("Transfer-Encoding", "chunked"))
        )
        self.end_headers()
        try:
            self._body(body[:breaks] if breaks is not None else body, whole=breaks is None or breaks >= len(body))
        except OSError:
            self.close_connection = True  # The client had enough.

    def _body(self, body: bytes, *, whole: bool) -> None:
        if self.site.lengths:
            self.wfile.write(body)
        else:
            for start in range(0, len(body), 1 << 16):
                block = body[start : start + (1 << 16)]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(block), block))
            if whole:
                self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or not whole


@contextmanager
def serving(folder: Path, **options: Any) -> Iterator[Site]:
    """Serves a folder on loopback until the block ends."""
    site = Site(folder, **options)
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    site.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    with serving(Path(sys.argv[1])) as running:
        print(running.url, flush=True)
        threading.Event().wait()
