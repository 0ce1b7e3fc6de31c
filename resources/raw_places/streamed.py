"""A file on a server without range requests: one stream from the beginning, restarted for every step back."""

import time
from typing import Any

from typing_extensions import override

from resources.raw_places.remote import CutError, Remote, Reply, broken_off, changed, pauses
from resources.seekable import Seekable

_HEAD = 64 << 10
"""Bytes at the beginning that are kept, so that examining them needs no second stream."""
_STEP = 1 << 20


class StreamedFile(Seekable):
    """A binary stream over whole bodies.

    If the server does not state the size, it is found by reading to the end. A stream that breaks off is restarted and
    read up to the same place, if the server states the version.
    """

    def __init__(self, remote: Remote, reply: Reply) -> None:
        super().__init__()
        self._remote = remote
        self._reply = reply
        self._size = reply.total
        self._head = b""
        self._read_up_to = 0
        self._cuts = pauses()

    @override
    def end(self) -> int:
        if self._size is None:
            while self._next(_STEP):
                pass
        assert self._size is not None
        return self._size

    @override
    def readinto(self, buffer: Any) -> int:
        block = self.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    @override
    def read(self, size: int | None = -1) -> bytes:
        found = bytearray()
        while (size is None or size < 0 or len(found) < size) and (block := self._some(_left(size, len(found)))):
            found += block
            self._position += len(block)
        return bytes(found)

    @override
    def readall(self) -> bytes:
        return self.read()

    def _some(self, most: int) -> bytes:
        """Returns bytes from the position on, at most so many; none at the end."""
        if self._position < len(self._head):
            return self._head[self._position : self._position + most]
        if self._position < self._read_up_to:
            self._begin_again()
        while self._read_up_to < self._position:
            if not self._next(min(_STEP, self._position - self._read_up_to)):
                return b""
        return self._next(most)

    def _next(self, most: int) -> bytes:
        """Returns the next bytes of the stream, at most so many; none at the end."""
        place = self._read_up_to
        while True:
            try:
                self._skip_to(place)
                block = self._reply.read(most)
                break
            except CutError as cut:
                self._mend(place, str(cut))
        if not block:
            self._require_whole(place)
            return b""
        if place == len(self._head) < _HEAD:
            self._head += block[: _HEAD - len(self._head)]
        self._read_up_to = place + len(block)
        return block

    def _skip_to(self, place: int) -> None:
        while self._read_up_to < place:
            block = self._reply.read(min(_STEP, place - self._read_up_to))
            if not block:
                raise changed(self._remote.label)
            self._read_up_to += len(block)

    def _mend(self, place: int, why: str) -> None:
        """Restarts a broken stream.

        Without a version from the server it fails: earlier bytes may be of another version.
        """
        pause = next(self._cuts, None) if self._remote.is_known else None
        if pause is None:
            raise broken_off(self._remote.label, place, why) from None
        time.sleep(pause)
        self._begin_again()

    def _require_whole(self, place: int) -> None:
        if self._size is not None and place != self._size:
            raise broken_off(self._remote.label, place, "too few bytes")
        self._size = place

    def _begin_again(self) -> None:
        self._reply.close()
        self._reply = self._remote.get(0, None)
        if None not in (self._size, self._reply.total) and self._reply.total != self._size:
            raise changed(self._remote.label)
        self._read_up_to = 0

    @override
    def close(self) -> None:
        if not self.closed:
            self._reply.close()
        super().close()


def _left(size: int | None, done: int) -> int:
    return _STEP if size is None or size < 0 else min(size - done, _STEP)
