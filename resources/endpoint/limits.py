"""Limits on requests to one endpoint, shared by all processes of this machine: how many at once, how many a second.

They are locks on files, which a process that is killed gives back.
"""

import fcntl
import itertools
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

_MOMENT: Final = struct.Struct("<d")


class Limits:
    """The limits of an endpoint. folder: for its locks. concurrency: most requests at once. rate: most in a second."""

    def __init__(self, folder: Path, concurrency: int, rate: float | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._slots = [folder / f"slot-{number:03d}" for number in range(concurrency)]
        self._pace = folder / "pace"
        self._rate = rate
        self._next = itertools.count()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits until a request may be sent; it counts as under way until the end of the block."""
        with self._slot() as held:
            self._keep_pace()
            yield
            held.flush()

    @contextmanager
    def _slot(self) -> Iterator[BinaryIO]:
        for slot in self._slots:
            with slot.open("ab") as file:
                if _locked(file, wait=False):
                    yield file
                    return
        with self._slots[next(self._next) % len(self._slots)].open("ab") as file:
            _locked(file, wait=True)
            yield file

    def _keep_pace(self) -> None:
        if self._rate is None:
            return
        with self._pace.open("a+b") as file:
            _locked(file, wait=True)
            file.seek(0)
            content = file.read(_MOMENT.size)
            now = time.time()
            free = _MOMENT.unpack(content)[0] if len(content) == _MOMENT.size else now
            # A clock that was set back would otherwise stop all requests until it is there again.
            mine = max(now, min(free, now + len(self._slots) / self._rate))
            file.truncate(0)
            file.write(_MOMENT.pack(mine + 1 / self._rate))
        time.sleep(max(0.0, mine - time.time()))


def _locked(file: BinaryIO, *, wait: bool) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True
