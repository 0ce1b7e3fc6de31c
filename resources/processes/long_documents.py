"""The turn of a machine's workers at long documents: one job at a time works on some, and the others wait.

What a stage takes for a document grows with its length (docs/reliability.md, "Memory"). Each worker has room for a
document that fits its share; for longer ones there is room once on a machine. A job has its turn from the first such
document until it ends; jobs without one go on beside it.
"""

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from sys import maxsize
from threading import local

BYTES_PER_BYTE = 8
"""Bytes that a job takes for each byte of a document, about."""


class _Turn(local):
    """The turn of the job of a thread. longest: bytes of a document that needs none. lock: while it is this job's."""

    def __init__(self) -> None:
        self.longest = maxsize
        self.lock: int | None = None


_turn = _Turn()


def job_begins(memory: int) -> None:
    """Notes that a job begins. memory: bytes that it may use."""
    _turn.longest = memory // BYTES_PER_BYTE


def job_ends() -> None:
    """Gives the turn away if the job had it."""
    lock, _turn.lock, _turn.longest = _turn.lock, None, maxsize
    if lock is not None:
        with suppress(OSError):  # A process that was started meanwhile may have the file too.
            fcntl.flock(lock, fcntl.LOCK_UN)
        os.close(lock)


def wait_for_turn(size: int) -> None:
    """Waits, before a document of so many bytes is worked on, until no other job of this machine is at a long one."""
    if size > _turn.longest and _turn.lock is None:
        _turn.lock = _taken(Path(tempfile.gettempdir(), f"corpus-assets-{os.getuid()}.turn"))


def _taken(path: Path) -> int | None:
    """Returns the lock, once it is free; None where there can be none: then nobody waits."""
    with suppress(OSError):
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        return lock
    return None
