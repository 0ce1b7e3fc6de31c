"""Processes that work on a store: which one holds it or a partition, since when, and with which settings."""

import os
import secrets
import socket
from datetime import UTC, datetime
from functools import cache

import msgspec

from resources.processes.alive import Birth, birth, has_ended


class Process(msgspec.Struct, frozen=True):
    """A process that builds on a store, or holds it.

    since: when it began, in ISO format.
    settings: digest of all values that recipes may hold; builders that share a store have the same.
    nonce: tells it apart from a later process with the same number.
    place, ticks: its `Birth`.
    """

    process: int
    host: str
    since: str
    settings: str
    nonce: str
    place: str = ""
    ticks: int = 0

    @property
    def words(self) -> str:
        """The process as a person names it."""
        return f"process {self.process} on {self.host}, since {self.since},"

    def has_ended(self) -> bool:
        """Returns whether it is known to have ended; False for a process of another machine or namespace."""
        return has_ended(self.process, Birth(self.place, self.ticks))


@cache
def _nonce(process: int) -> str:
    del process  # A forked process is another one.
    return secrets.token_hex(8)


def this_process(settings: str = "") -> Process:
    """Returns the description of the calling process that it writes where it holds something."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    return Process(os.getpid(), socket.gethostname(), since, settings, _nonce(os.getpid()), *birth(os.getpid()))


def decode_process(content: bytes) -> Process | None:
    """Returns the description that a process wrote; None if it is missing or damaged."""
    try:
        return msgspec.json.decode(content, type=Process)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
