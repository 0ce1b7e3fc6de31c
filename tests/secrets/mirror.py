"""A hostile server on loopback: whatever it is asked, it repeats in its answer all that it was told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote


@dataclass
class Mirror:
    """What it answers with, and all that it was told. status: of answers; 0 for an answer that is no HTTP."""

    url: str = ""
    status: int = 403
    told: list[str] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    mirror: Mirror

    def log_message(self, *_: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._repeat
        raise AttributeError(name)

    def _repeat(self) -> None:
        told = f"{self.command} {self.path} " + " ".join(f"{name}: {value}" for name, value in self.headers.items())
        self.mirror.told.append(told)
        self.close_connection = True
        if not self.mirror.status:
            self.wfile.write(told.encode() + b"\r\n\r\n")
            return
        body = f"<Error><Code>{told}</Code><Message>{told}</Message></Error>".encode()
        self.send_response(self.mirror.status, told)
        headers = {
            "ETag": '"1"',
            "X-Error-Code": quote(told),
            "X-Error-Message": told,
            "Connection": "close",
        }
        if self.mirror.status in range(300, 400):
            headers["Location"] = f"ftp://user:{quote(told)}@host/{quote(told)}?{quote(told)}"
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@contextmanager
def mirroring() -> Iterator[Mirror]:
    """Runs the server until the block ends."""
    mirror = Mirror()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"mirror": mirror}))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    mirror.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
