"""The creation time of a document as one integer that can be compared."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

UNKNOWN = -(2**63)
"""Older than any date: a document that does not say when it was created."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MAX_LENGTH = 64


@lru_cache(maxsize=4096)
def created_microseconds(created: str | None) -> int:
    """Returns an ISO 8601 date or time as microseconds since 1970 UTC; a time without an offset is UTC.

    Returns `UNKNOWN` for None and for anything that is not such a date (docs/formats/dolma.md "Documents").
    """
    if created is None or len(created) > _MAX_LENGTH:
        return UNKNOWN
    try:
        moment = datetime.fromisoformat(created)
        return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        return UNKNOWN
