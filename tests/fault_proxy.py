"""A proxy on loopback between a client of S3 and its server that makes faults on the wire.

Which requests meet one depends on a keyed hash of method, address and the number of the attempt alone, so that a test
meets the same ones whatever its threads do. The name of the host is kept, so signatures stay valid (path-style only).
"""

import socket
import socketserver
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BufferedIOBase
from threading import Lock, Thread
from typing import Literal
from urllib.parse import urlsplit

import xxhash

Kind = Literal["500", "503", "cut", "truncated", "latency"]
EVERY_FAULT: tuple[Kind, ...] = ("500", "503", "cut", "truncated")
ONE_IN = 5
LATENCY_SECONDS = 0.2
_PHRASES = {"500": ("Internal Server Error", "InternalError"), "503": ("Service Unavailable", "SlowDown")}
_OF_A_CONNECTION = {"transfer-encoding", "content-length", "connection", "expect"}


@dataclass(frozen=True)
class Message:
    """A request or a reply: its first line, its headers in order, its body without chunks."""

    first: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def method(self) -> str:
        return self.first.partition(" ")[0]

    @property
    def address(self) -> str:
        return self.first.split(" ")[1]

    def encoded(
        self, kept: int | None = None, promised: int | None = None, more: tuple[str, str] | None = None
    ) -> bytes:
        """The bytes of the message, with `kept` bytes of its body, of which it promises `promised`."""
        sent = self.body[:kept]
        headers = [(name, value) for name, value in self.headers if name.lower() not in _OF_A_CONNECTION]
        length = next((value for name, value in self.headers if name.lower() == "content-length"), None)
        size = str(len(sent) if promised is None else promised) if self.body else length
        headers += [("Content-Length", size)] if size is not None else []
        headers += [more] if more else []
        lines = [self.first, *(f"{name}: {value}" for name, value in headers), "", ""]
        return "\r\n".join(lines).encode("latin-1") + sent


@dataclass
class Proxy:
    """A running proxy. endpoint: its address. kinds: of which faults are made. made: how many of each were made.

    only: the number of the one request that meets a fault; None for those that are drawn.
    for_good: it meets it each time that it is sent.
    """

    endpoint: str
    target: tuple[str, int]
    kinds: Sequence[Kind]
    one_in: int
    seed: int
    made: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    only: int | None = None
    for_good: bool = False
    _chosen: str = ""
    _attempts: Counter[str] = field(default_factory=Counter)
    _lock: Lock = field(default_factory=Lock)

    def aim(self, number: int, kind: Kind, *, for_good: bool) -> None:
        """From now on one request meets a fault, by its number from here; 0 for none."""
        with self._lock:
            self.requests, self.only, self.kinds, self.for_good, self._chosen = 0, number, [kind], for_good, ""

    def draw(self, request: Message) -> tuple[str, bool]:
        """Returns the fault of a request, empty for none, and whether the server hears of the request all the same."""
        with self._lock:
            self.requests += 1
            name = f"{request.method} {request.address}"
            if self.only is not None:
                return self._aimed(name, self.only)
            self._attempts[name] += 1
            chance = xxhash.xxh3_64_intdigest(f"{self.seed} {name} {self._attempts[name]}".encode())
        if not self.kinds or chance % self.one_in:
            return "", True
        chance //= self.one_in
        return self.kinds[chance % len(self.kinds)], chance // len(self.kinds) % 2 == 0

    def _aimed(self, name: str, only: int) -> tuple[str, bool]:
        if self.requests == only:
            self._chosen = name
        meets = self.requests == only or (self.for_good and name == self._chosen)
        return (self.kinds[0], self.requests % 2 == 0) if meets else ("", True)

    def note(self, kind: str) -> None:
        """Counts a fault that was made."""
        with self._lock:
            self.made[kind] += 1


@contextmanager
def faults(
    endpoint: str, kinds: Sequence[Kind] = EVERY_FAULT, *, one_in: int = ONE_IN, seed: int = 0
) -> Iterator[Proxy]:
    """Runs a proxy before a server. one_in: a request of so many meets a fault; with 1 each does."""
    place = urlsplit(endpoint)
    assert place.hostname and place.port
    with _Server(("127.0.0.1", 0), _Connection) as server:
        server.proxy = Proxy(
            f"http://127.0.0.1:{server.server_address[1]}", (place.hostname, place.port), kinds, one_in, seed
        )
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.proxy
        finally:
            server.shutdown()
            thread.join()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    proxy: Proxy


class _Connection(socketserver.StreamRequestHandler):
    """One connection of a client; each of its requests goes to the server over a connection of its own."""

    server: _Server

    def handle(self) -> None:
        with suppress(OSError, EOFError):
            self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (request := _request(self.rfile, self.wfile)) and self._answer(request):
                pass

    def _answer(self, request: Message) -> bool:
        """Answers one request; returns whether the connection goes on."""
        proxy = self.server.proxy
        kind, heard = proxy.draw(request)
        heard = heard or kind in ("", "latency", "truncated")
        if kind == "latency":
            time.sleep(LATENCY_SECONDS)
        reply = _exchanged(proxy.target, request) if heard else None
        has_body = reply is not None and bool(reply.body)
        if kind and (kind != "truncated" or has_body):
            proxy.note(kind)
        if kind in _PHRASES:
            self.wfile.write(_refusal(kind, request.method).encoded())
        elif reply is not None and (kind != "cut" or has_body):
            half = len(reply.body) // 2 if kind in ("cut", "truncated") else None
            self.wfile.write(reply.encoded(half, len(reply.body) if kind == "cut" else None))
        return kind != "cut"


def _exchanged(target: tuple[str, int], request: Message) -> Message:
    """Sends a request to the server and returns its reply."""
    with socket.create_connection(target) as upstream, upstream.makefile("rb") as replies:
        upstream.sendall(request.encoded(more=("Connection", "close")))
        return _reply(replies, request.method)


def _refusal(kind: str, method: str) -> Message:
    phrase, code = _PHRASES[kind]
    body = b"" if method == "HEAD" else f"<Error><Code>{code}</Code><Message>made by a test</Message></Error>".encode()
    return Message(f"HTTP/1.1 {kind} {phrase}", (("Content-Type", "application/xml"), ("Content-Length", "0")), body)


def _request(stream: BufferedIOBase, answers: BufferedIOBase) -> Message | None:
    """Reads a request; lets a client that waits for it send the body. None when the client has no more."""
    first = stream.readline().decode("latin-1").rstrip("\r\n")
    if not first:
        return None
    headers = _headers(stream)
    named = {name.lower(): value for name, value in headers}
    if named.get("expect", "").lower() == "100-continue":
        answers.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    return Message(first, headers, _body(stream, named, at_end=False))


def _reply(stream: BufferedIOBase, method: str) -> Message:
    while True:
        first = stream.readline().decode("latin-1").rstrip("\r\n")
        if not first:
            raise EOFError("the server hung up")
        headers = _headers(stream)
        status = int(first.split(" ")[1])
        if status >= 200:
            break
    bodiless = method == "HEAD" or status in (204, 304)
    named = {name.lower(): value for name, value in headers}
    return Message(first, headers, b"" if bodiless else _body(stream, named, at_end=True))


def _headers(stream: BufferedIOBase) -> tuple[tuple[str, str], ...]:
    found = []
    while line := stream.readline().decode("latin-1").rstrip("\r\n"):
        name, _, value = line.partition(":")
        found.append((name, value.strip()))
    return tuple(found)


def _body(stream: BufferedIOBase, headers: Mapping[str, str], *, at_end: bool) -> bytes:
    """Reads a body; without a length that of a reply goes up to the end of the connection."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return b"".join(_chunks(stream))
    if "content-length" in headers:
        return _exactly(stream, int(headers["content-length"]))
    return stream.read() if at_end else b""


def _chunks(stream: BufferedIOBase) -> Iterator[bytes]:
    while size := int(stream.readline().partition(b";")[0], 16):
        yield _exactly(stream, size)
        stream.readline()
    while stream.readline().strip():
        pass


def _exactly(stream: BufferedIOBase, size: int) -> bytes:
    found = stream.read(size)
    if len(found) != size:
        raise EOFError("a message broke off")
    return found
