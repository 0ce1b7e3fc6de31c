"""A web server on loopback that gets notices, and answers as a test asks for it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hook:
    """What the server got.

    status: of its answers. location: where a redirect leads. drips: whether answers never end.
    """

    url: str = ""
    status: int = 200
    location: str = ""
    drips: bool = False
    got: list[dict[str, Any]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    hook: Hook

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        hook = self.hook
        hook.asked.append(f"{self.command} {self.path} {self.headers['Content-Type']}")
        hook.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if hook.drips:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while not hook.over.wait(0.05):
                self.wfile.write(b".")
            return
        self.send_response(hook.status)
        if hook.location:
            self.send_header("Location", hook.location)
        self.end_headers()

    def do_GET(self) -> None:
        self.hook.asked.append(f"GET {self.path}")
        self.send_response(200)
        self.end_headers()


@contextmanager
def receiving() -> Iterator[Hook]:
    """A server for notices; `hook.url` has a path that is a secret."""
    hook = Hook()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hook": hook}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hook.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hook
    finally:
        hook.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
