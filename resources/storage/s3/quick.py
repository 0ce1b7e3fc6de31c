"""Leaves out of botocore's requests what costs time and tells us nothing: a fifth to a third of each small one."""

import os
from typing import Any, BinaryIO

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
    if "Expect" in headers and _bytes_of(params["body"]) <= _LARGE:
        del headers["Expect"]


def _bytes_of(body: BinaryIO) -> int:
    """Returns the bytes of a body from where it stands. `BytesIO.getbuffer` would tell too, but copy all of them."""
    place = body.tell()
    body.seek(0, os.SEEK_END)  # Not every body that boto sends says where it is then.
    end = body.tell()
    body.seek(place)
    return end - place
