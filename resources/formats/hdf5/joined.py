"""Writes that lie one after another in a file, joined to few large ones."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

AT_ONCE = 1 << 18


class JoinedWrites:
    """The file object that h5py writes a file through. It places every write, and a chunk of a row has few bytes.

    Up to `AT_ONCE` bytes that follow each other go to the target in one write, at the latest with `flush`. HDF5 may go
    on after an error of the target, and h5py then raises a `SystemError` about a later call: `first_error` raises the
    error itself.
    """

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._held = bytearray()
        self._start = 0  # of what is held
        self._place = target.tell()
        self._failed: OSError | None = None

    @contextmanager
    def first_error(self) -> Iterator[None]:
        """Raises, in place of what was raised inside, the first error of the target."""
        try:
            yield
        finally:
            if self._failed is not None:
                raise self._failed from None

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a place, which is returned."""
        if whence != io.SEEK_SET:
            with self._noting():
                self._put()
                place = self._target.seek(place, whence)
        self._place = place
        return place

    def tell(self) -> int:
        """Returns the place of the next byte."""
        return self._place

    def write(self, content: Any) -> int:
        """Takes the bytes for the next places; returns how many."""
        if self._place != self._start + len(self._held) or len(self._held) >= AT_ONCE:
            with self._noting():
                self._put()
            self._start = self._place
        self._held += content
        size = self._start + len(self._held) - self._place
        self._place += size
        return size

    def read(self, size: int) -> bytes:
        """Returns the bytes from here on, up to a number."""
        with self._noting():
            self._put()
            self._target.seek(self._place)
            content = self._target.read(size)
        self._place += len(content)
        return content

    def truncate(self, size: int) -> int:
        """Gives the file a size, which is returned."""
        with self._noting():
            self._put()
            return self._target.truncate(size)

    def flush(self) -> None:
        """Hands everything on to the target, and flushes it."""
        with self._noting():
            self._put()
            self._target.flush()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._failed = self._failed or error
            raise

    def _put(self) -> None:
        if self._held:
            self._target.seek(self._start)
            self._target.write(self._held)
            self._held = bytearray()
            self._start = 0
