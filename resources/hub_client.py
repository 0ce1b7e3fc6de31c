"""The client of the Hugging Face hub, with a limit on how long it waits for an answer."""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from huggingface_hub import HfApi

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
