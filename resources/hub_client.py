"""The client of the Hugging Face hub, with a limit on how long it waits for an answer, and requests sent again."""

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")

PAUSES = (2.0, 8.0)
"""Seconds before each further try of a request that met a busy hub, after those of the client itself."""
PASSING = (408, 429, 500, 502, 503, 504)
"""Statuses of an answer after which the same request may succeed."""
SECONDS = 60.0
"""How long a request waits for a connection, and for more bytes of its answer."""


def hub_api() -> "HfApi":
    """Returns the API of the hub. A request without an answer fails like one that cannot be sent."""
    from huggingface_hub import HfApi

    _limit_waits()
    return HfApi()


@cache
def _limit_waits() -> None:
    """Gives the requests of this process a time limit, since the hub's client alone waits for ever.

    Newer releases pass their own limit with each request, so a limit of the connection alone has no effect.
    """
    from huggingface_hub import get_session, set_client_factory

    client, hooks = type(get_session()), get_session().event_hooks
    limited = {**hooks, "request": [*hooks["request"], _limit]}
    set_client_factory(lambda: client(event_hooks=limited, follow_redirects=True, timeout=SECONDS))


def _limit(request: Any) -> None:
    given = request.extensions["timeout"]
    request.extensions["timeout"] = {what: SECONDS if limit is None else limit for what, limit in given.items()}


def patiently(call: Callable[[], T]) -> T:
    """Returns what a call returns; one that meets a busy hub, or a connection that breaks off, is made again."""
    for pause in PAUSES:
        try:
            return call()
        except Exception as error:
            if not passes(error):
                raise
        time.sleep(pause)
    return call()


def passes(error: BaseException) -> bool:
    """Returns whether a request that failed so may succeed when it is sent again."""
    cause = cause_of(error)
    return status_of(cause) in PASSING if has_answer(cause) else isinstance(cause, faults_of_connections())


def cause_of(error: BaseException) -> BaseException:
    """Returns what a thread of the client failed of, which the client wraps."""
    while isinstance(error, RuntimeError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def first_line(words: str) -> str:
    """Returns the first line of what the hub or its client says, without the token, which an answer may repeat."""
    from huggingface_hub import get_token

    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    return line.replace(token, "***") if (token := get_token()) else line


def has_answer(error: BaseException) -> bool:
    """Returns whether an error is about an answer of the hub."""
    return getattr(error, "response", None) is not None


def status_of(error: BaseException) -> int:
    """Returns the status of the hub's answer; 0 if there is none."""
    return int(getattr(getattr(cause_of(error), "response", None), "status_code", 0))


def faults_of_connections() -> tuple[type[Exception], ...]:
    """Returns the classes of faults of connections: those of the client's HTTP library, which differs by release."""
    from huggingface_hub.errors import HfHubHTTPError

    bases = cast("tuple[type[Exception], ...]", HfHubHTTPError.__bases__)
    return tuple(base for base in bases if base is not OSError)
