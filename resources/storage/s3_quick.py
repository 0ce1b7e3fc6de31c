"""Leaves out of botocore's requests what costs time and tells us nothing: a fifth to a third of each small one."""

from typing import Any

_LARGE = 1 << 20
"""Bytes of a body from which on a store is asked whether it takes it, before it is sent."""


def quick_session() -> Any:
    """Returns a session of botocore that leaves the times in answers as the text that they are."""
    from botocore.session import Session

    session = Session()
    session.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=str)
    return session


def without_asking_first(connection: Any) -> None:
    """Has small bodies sent with their request: to ask first takes another round trip."""
    connection.meta.events.register_last("before-call.s3", _not_asked)


def _not_asked(params: dict[str, Any], **_: Any) -> None:
    headers = params["headers"]
    if "Expect" in headers and len(params["body"].getbuffer()) <= _LARGE:
        del headers["Expect"]
