"""Bytes of a remote file: ranges of one version, requested again where a connection broke off."""

import time
from collections.abc import Iterator
from contextlib import closing
from typing import Protocol

from resources.errors import StorageError

CUTS = 8
"""How often one range may break off."""
PAUSE = 0.1
_LONGEST_PAUSE = 5.0


class CutError(Exception):
    """A connection broke off in the middle of a body; the message says how in a few words."""


class Reply(Protocol):
    """The answer to a request for bytes. first: where they begin. total: bytes of the whole file, if known."""

    first: int
    total: int | None

    def read(self, size: int) -> bytes:
        """Returns up to `size` bytes, none at the end; `CutError` if the connection breaks off."""

    def close(self) -> None:
        """Gives the connection back, or closes it if bytes are left."""


class Remote(Protocol):
    """One version of one remote file."""

    @property
    def label(self) -> str:
        """The file in messages."""

    @property
    def is_known(self) -> bool:
        """Whether a reply tells which version it is of."""

    def get(self, first: int, end: int | None) -> Reply:
        """Requests the bytes from `first` to before `end`, or the whole file if `end` is None.

        `StorageError` if the place does not send them, or has another version by now.
        """


class Begun:
    """A `Remote` whose first request was made when the file was opened."""

    def __init__(self, remote: Remote, reply: Reply, end: int) -> None:
        self.label = remote.label
        self.is_known = remote.is_known
        self._remote = remote
        self._first: Reply | None = reply
        self._end = end

    def get(self, first: int, end: int | None) -> Reply:
        """Returns the reply to the first request, once; later calls send a request."""
        reply, self._first = self._first, None
        if reply is not None and (first, end) == (0, self._end):
            return reply
        if reply is not None:
            reply.close()
        return self._remote.get(first, end)


def pauses() -> Iterator[float]:
    """Yields how long to wait before each further try."""
    yield from (min(PAUSE * 2**tries, _LONGEST_PAUSE) for tries in range(CUTS))


def changed(label: str) -> StorageError:
    """Returns the error for a file that is not as it was listed."""
    return StorageError(f"{label} changed since it was listed; build again")


def broken_off(label: str, place: int, why: str) -> StorageError:
    """Returns the error for a file whose transfer keeps breaking off."""
    return StorageError(f"{label}: cannot be read now: broke off at byte {place:,} again and again ({why})")


def read_range(remote: Remote, first: int, size: int) -> bytes:
    """Returns exactly `size` bytes from `first` on; a broken transfer is continued, at most `CUTS` times."""
    found: list[bytes] = []
    length, why = 0, ""
    for pause in pauses():
        why = _read_on(remote, first + length, first + size, found)
        length = sum(map(len, found))
        if length == size:
            return found[0] if len(found) == 1 else b"".join(found)
        time.sleep(pause)
    raise broken_off(remote.label, first + length, why)


def _read_on(remote: Remote, first: int, end: int, found: list[bytes]) -> str:
    """Adds the bytes of one request; returns why some are missing, if so."""
    with closing(remote.get(first, end)) as reply:
        if reply.first != first:
            raise StorageError(f"{remote.label}: cannot be read: bytes from {first:,} on were asked for, others came")
        while first < end:
            try:
                block = reply.read(end - first)
            except CutError as cut:
                return str(cut)
            if not block:
                return "too few bytes"
            found.append(block)
            first += len(block)
    return ""
