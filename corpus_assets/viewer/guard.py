"""Security of the viewer: only GET, only this machine's own names, and pages that load nothing from other servers."""

import ipaddress
import socket

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MOST_QUERY = 8192


def is_loopback(host: str) -> bool:
    """Returns whether an address or name means this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Refuses requests that our pages never send, and adds missing headers of `HEADERS` to every answer.

    A page of another site can make its own name resolve to this machine (DNS rebinding), and would then read the
    corpus. Its requests carry that name in `Host`, so only names of this machine are answered. host: the address
    listened on.
    """

    def __init__(self, app: ASGIApp, host: str) -> None:
        self._app = app
        self._names = LOOPBACK | {host.lower()}
        self._open = not is_loopback(host)
        if self._open:
            self._names |= {socket.gethostname().lower(), socket.getfqdn().lower()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        answer = self._app if refusal is None else PlainTextResponse(refusal[1], refusal[0])
        await answer(scope, receive, with_headers)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        if not self.knows(Headers(scope=scope).get("host", "")):
            return 421, "This name is none of the machine's that serves the corpus.\n"
        if scope["method"] not in {"GET", "HEAD"}:
            return 405, "The viewer only reads: valid is GET.\n"
        if len(scope.get("query_string", b"")) > MOST_QUERY:
            return 414, f"The address is too long: valid are {MOST_QUERY} bytes of parameters.\n"
        return None

    def knows(self, given: str) -> bool:
        """Returns whether the `Host` of a request means this machine. An address cannot be rebound, only a name."""
        name = _without_port(given.strip().lower())
        if name in self._names or is_loopback(name):
            return True
        return self._open and _is_address(name)


def _without_port(given: str) -> str:
    if given.startswith("["):
        return given[1:].partition("]")[0]
    return given if given.count(":") > 1 else given.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
