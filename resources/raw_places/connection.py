"""Requests over HTTP: one pool of connections per process, and our own error messages, which never hold a query."""

import errno
import logging
import os
import re
import socket
from collections.abc import Mapping
from http.client import responses
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from typing_extensions import override
from urllib3.exceptions import (
    HTTPError,
    InvalidHeader,
    LocationValueError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    SSLError,
    TimeoutError,
)

from resources.errors import StorageError
from resources.raw_places.remote import CutError

TRIES = 5
BACKOFF = 0.2
_LONGEST_BACKOFF = 5
LONGEST_ASKED_FOR = 60
_REDIRECTS = 5
_TIMEOUT = urllib3.Timeout(connect=10, read=60)
_AGAIN = (408, 429, 500, 502, 503, 504)
_POOLS: dict[str | None, urllib3.PoolManager] = {}
os.register_at_fork(after_in_child=_POOLS.clear)  # The parent's connections must not be used after a fork.
_CODINGS = {"gzip": ".gz", "x-gzip": ".gz", "zstd": ".zst", "br": ".br", "deflate": ".z", "compress": ".z"}
"""Content encodings of servers, and the suffixes of files that are stored that way."""

_OF_THE_MACHINE = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EIO),
    *(socket.EAI_AGAIN, socket.EAI_MEMORY, socket.EAI_SYSTEM),
}
"""Errors before anybody was asked, which say nothing about a host; those of names are numbers below 0."""

_RANGE = re.compile(r"bytes \d+-\d+/(\d+|\*)")


def _without_queries(record: logging.LogRecord) -> bool:
    """Removes queries and what servers say from the library's log; returns True, so that the rest is logged."""
    if isinstance(record.args, tuple):
        record.args = tuple(map(_loggable, record.args))
    return True


def _loggable(one: object) -> object:
    if isinstance(one, BaseException):
        return type(one).__name__
    return one.partition("?")[0] if isinstance(one, str) else one


for _name in ("connectionpool", "poolmanager", "util.retry"):
    logging.getLogger(f"urllib3.{_name}").addFilter(_without_queries)


class StatusError(StorageError):
    """A server answered a request with a status other than success."""

    def __init__(self, problem: str, status: int) -> None:
        super().__init__(problem)
        self.problem = problem
        self.status = status

    def __reduce__(self) -> tuple[type["StatusError"], tuple[str, int]]:
        return (type(self), (self.problem, self.status))


class HttpReply:
    """The bytes of an answer (a `Reply`), as the server stores them. version: its ETag or date; empty without one."""

    def __init__(self, response: Any) -> None:
        headers = response.headers
        span, _, total = headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
        self.is_range = response.status == 206
        self.first = (_number(span.partition("-")[0]) or 0) if self.is_range else 0
        self.total = _number(total if self.is_range else headers.get("Content-Length"))
        self.version = _version(headers)
        self._response = response

    def read(self, size: int) -> bytes:
        """Returns up to `size` bytes."""
        try:
            block: bytes = self._response.read(size, decode_content=False)
        except (HTTPError, OSError) as error:
            raise CutError(_words(error)) from None
        return block

    def close(self) -> None:
        """Closes the connection if bytes are left, else gives it back."""
        self._response.close()
        self._response.release_conn()


def get(url: str, label: str, headers: Mapping[str, str] | None = None) -> HttpReply:
    """Requests a URL; retries for busy servers and broken connections, and follows a few redirects.

    Raises `StatusError` for any status that is not a success, and `StorageError` if there is no answer. label: the file
    in messages, which name the host and no more of the URL.
    """
    host = urlsplit(url).hostname or ""
    what = f"{label}: {host}"
    try:
        response = _pool(url).request(
            "GET",
            url,
            headers={"Accept-Encoding": "identity", "User-Agent": "corpus-assets", **(headers or {})},
            retries=_retries(),
            timeout=_TIMEOUT,
            preload_content=False,
        )
    except (HTTPError, ValueError) as error:
        raise StorageError(f"{what} cannot be read now: {_words(error)}") from None
    return _checked(response, url, what)


def _checked(response: Any, url: str, what: str) -> HttpReply:
    """Returns an answer with bytes, if it says where they end."""
    if response.status not in (200, 206):
        response.close()
        known = responses.get(response.status, "")  # The server's own words may repeat what it was told.
        raise StatusError(f"{what} answers {response.status} {known}".rstrip(), response.status)
    if response.status == 206 and not _RANGE.fullmatch(response.headers.get("Content-Range", "")):
        response.close()
        raise StorageError(f"{what} answers 206 without a Content-Range that can be read")
    if packed := _packed(response, url):
        response.close()
        raise StorageError(f"{what} sends it packed with {packed}, though it was asked for it as it is")
    ends = "Content-Length" in response.headers or response.headers.get("Transfer-Encoding", "").lower() == "chunked"
    downgraded = url.lower().startswith("https:") and any(map(_is_open, _redirections(response)))
    if ends and not downgraded:
        return HttpReply(response)
    response.close()
    raise StorageError(f"{what} " + ("leads from https to http" if downgraded else "does not say where the file ends"))


def _packed(response: Any, url: str) -> str:
    """Returns the encoding that a server applied to a file for the transfer; empty if it sends the file as it is.

    Some servers declare an encoding for every file that is stored compressed, by its name.
    """
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    suffix = _CODINGS.get(coding)
    return "" if suffix is None or urlsplit(url).path.lower().endswith(suffix) else coding


def _redirections(response: Any) -> list[str]:
    """Returns the addresses that redirects led to."""
    history = response.retries.history if response.retries else ()
    return [str(entry.redirect_location) for entry in history if entry.redirect_location]


def _is_open(url: str) -> bool:
    return url.lower().startswith("http:")


class _Retries(urllib3.Retry):
    """Waits as long as a busy server asks for (`Retry-After`), up to a limit; otherwise a little longer each time."""

    @override
    def get_retry_after(self, response: Any) -> float | None:
        try:
            asked_for = super().get_retry_after(response)
        except InvalidHeader:
            return None
        return None if asked_for is None else min(asked_for, LONGEST_ASKED_FOR)


def _retries() -> urllib3.Retry:
    return _Retries(
        total=None,
        connect=TRIES,
        read=TRIES,
        status=TRIES,
        other=0,
        redirect=_REDIRECTS,
        status_forcelist=_AGAIN,
        backoff_factor=BACKOFF,
        backoff_max=_LONGEST_BACKOFF,
        raise_on_status=False,
    )


def _pool(url: str) -> urllib3.PoolManager:
    """Returns the pool of this process, or that of the proxy which the environment names for a URL."""
    parts = urlsplit(url)
    proxy = None if proxy_bypass(parts.netloc) else getproxies().get(parts.scheme)
    if proxy not in _POOLS:
        size: dict[str, Any] = {"num_pools": 32, "maxsize": 16}
        _POOLS[proxy] = _proxy(proxy, **size) if proxy else urllib3.PoolManager(**size)
    return _POOLS[proxy]


def _proxy(address: str, **size: Any) -> urllib3.ProxyManager:
    """Returns the pool of a proxy, with the user and password of its address, if any."""
    user = urlsplit(address)
    if user.username is None:
        return urllib3.ProxyManager(address, **size)
    told = urllib3.make_headers(proxy_basic_auth=f"{unquote(user.username)}:{unquote(user.password or '')}")
    return urllib3.ProxyManager(address, proxy_headers=told, **size)


def _words(error: BaseException) -> str:
    """Returns the library's message without the address that it holds."""
    cause = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    if isinstance(cause.__cause__, OSError) and cause.__cause__.errno in _OF_THE_MACHINE:
        return str(cause.__cause__.strerror)
    known = {
        NameResolutionError: "the name of the host is not known",
        NewConnectionError: "nobody listens there, or no way leads there",
        TimeoutError: "no answer in time",
        SSLError: "no trusted connection (TLS)",
        LocationValueError: "it leads to an address that is not http or https",
    }
    found = (words for kind, words in known.items() if isinstance(cause, kind))
    return next(found, None) or ("too many redirects" if "redirects" in str(cause) else type(cause).__name__)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _version(headers: Mapping[str, str]) -> str:
    if etag := headers.get("ETag", "").strip():
        return f"etag/{etag}"
    return f"date/{date}" if (date := headers.get("Last-Modified", "").strip()) else ""
