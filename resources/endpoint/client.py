"""Requests to an OpenAI-compatible endpoint, sent again where that may help.

The key of the endpoint is read from an environment variable when it is needed; no error and no record has it.
"""

import http.client
import json
import os
import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from resources.endpoint.limits import Limits
from resources.errors import ConfigError, EndpointError
from resources.hashing import content_digest
from resources.version import VERSION

_MOST_BYTES = 64 << 20
_BLOCK = 1 << 16
_LONGEST_WAIT = 60.0
_SHOWN = 200
_AGAIN = {408, 409, 425, 429}
_TOO_LONG = 500
_VARIABLE = re.compile("[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Address:
    """Where an endpoint is and how it is asked; nothing here changes what it answers.

    url: up to and without `/chat/completions`. key_variable: environment variable of its key. timeout: seconds for a
    whole request. retries: how often a request is sent again. wait: seconds before that, doubled each time.
    """

    url: str
    model: str
    key_variable: str | None = None
    concurrency: int = 4
    requests_per_second: float | None = None
    timeout: float = 60.0
    retries: int = 4
    wait: float = 1.0

    @property
    def where(self) -> str:
        """The endpoint, for messages."""
        return f"{self.url} (model {self.model!r})"

    def key(self) -> str:
        """Returns the key, empty without a variable; `ConfigError` if the variable is not set."""
        return require_key(self.key_variable, self.where)


def require_key(variable: str | None, where: str) -> str:
    """Returns the key in an environment variable, empty without a variable; `ConfigError` if it is not set."""
    if variable is None:
        return ""
    named = variable if _VARIABLE.fullmatch(variable) else "that key_variable names"  # It may be the key itself.
    if not (key := os.environ.get(variable, "").strip()):
        raise ConfigError(f"{where}: the environment variable {named} is not set; it must hold the key")
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"{where}: the environment variable {named} holds no key: valid is one line of ASCII")
    return key


class Client:
    """Asks an endpoint; threads may share it. folder: where processes of this machine share its limits."""

    def __init__(self, address: Address, folder: Path) -> None:
        self._address = address
        self._key = address.key()
        shared = folder / f"limits-{content_digest(address.url.encode())}"
        self._limits = Limits(shared, address.concurrency, address.requests_per_second)

    def ask(self, path: str, question: Mapping[str, Any]) -> Any:
        """Returns the JSON that the endpoint answers to a POST; `EndpointError` if it does not, after all retries."""
        body = json.dumps(question, ensure_ascii=False).encode()
        for sent in range(self._address.retries + 1):
            with self._limits.turn():
                answer = self._answer(path, body)
            if not isinstance(answer, _Fault):
                return answer
            last = sent == self._address.retries
            if last or not answer.may_pass:
                tries = f" ({sent + 1} tries)" if sent else ""
                raise EndpointError(self._address.where, f"{answer.problem}{tries}", answer.reason)
            time.sleep(min(_LONGEST_WAIT, max(answer.after, self._address.wait * 2**sent)))
        raise AssertionError("a request is sent at least once")

    def _answer(self, path: str, body: bytes) -> Any:
        try:
            status, after, content = self._sent(path, body)
        except TimeoutError:
            return _Fault(f"no whole answer within {self._address.timeout:g} s", "too slow")
        except ssl.SSLCertVerificationError as error:
            return _Fault(f"its certificate is not valid: {error.verify_message}", "bad certificate", may_pass=False)
        except (OSError, http.client.HTTPException) as error:
            return _Fault(f"no answer: {type(error).__name__}: {self._shown(str(error))}", "no connection")
        if status != http.client.OK:
            may_pass = status in _AGAIN or status >= _TOO_LONG
            return _Fault(f"status {status}: {self._shown(content)}", f"status {status}", after, may_pass=may_pass)
        if len(content) > _MOST_BYTES:
            return _Fault(f"an answer of more than {_MOST_BYTES} bytes", "too long", may_pass=False)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            return _Fault(f"its answer is no JSON: {self._shown(content)}", "no JSON")

    def _sent(self, path: str, body: bytes) -> tuple[int, float, bytes]:
        """Returns status, seconds that it asks to wait, and content; `TimeoutError` once the time is over."""
        end = time.monotonic() + self._address.timeout
        connection = self._connection()
        try:
            connection.request("POST", self._path + path, body, self._headers)
            response = connection.getresponse()
            content = b""
            while len(content) <= _MOST_BYTES:
                if (left := end - time.monotonic()) <= 0:
                    raise TimeoutError
                if connection.sock is not None:
                    connection.sock.settimeout(left)
                if not (block := response.read1(_BLOCK)):
                    break
                content += block
            if response.length:
                raise http.client.IncompleteRead(content[:_SHOWN], response.length)
            return response.status, _seconds(response.headers.get("Retry-After", "")), content
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._address.timeout)
        return http.client.HTTPConnection(host, port, timeout=self._address.timeout)

    @cached_property
    def _parts(self) -> Any:
        return urlsplit(self._address.url)

    @property
    def _path(self) -> str:
        return str(self._parts.path).rstrip("/")

    @cached_property
    def _headers(self) -> dict[str, str]:
        found = {"Content-Type": "application/json", "User-Agent": f"corpus-assets/{VERSION}", "Connection": "close"}
        return {**found, "Authorization": f"Bearer {self._key}"} if self._key else found

    def _shown(self, said: bytes | str) -> str:
        """Returns what an endpoint said, for a message: its beginning, without the key, which it may repeat."""
        text = said if isinstance(said, str) else said[:_BLOCK].decode("utf-8", "replace")
        text = text.replace(self._key, "***") if self._key else text
        return repr(text[:_SHOWN])


@dataclass(frozen=True)
class _Fault:
    """Why a request had no usable answer. after: seconds that the endpoint asks to wait. may_pass: worth a retry."""

    problem: str
    reason: str
    after: float = 0.0
    may_pass: bool = True


def _seconds(value: str) -> float:
    return float(value) if value.strip().isdecimal() else 0.0
