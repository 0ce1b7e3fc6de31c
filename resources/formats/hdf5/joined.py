"""Writes that lie one after another in a file, joined to few large ones."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

AT_ONCE = 1 << 18


class JoinedWrites:
    """The file object that h5py writes a file through. It places every write, and a chunk of a row has few bytes.

    Up to `AT_ONCE` bytes that follow each other go to the target in one write, at the latest with `flush`. HDF5 hears
    of no error, since it goes on after one: h5py then raises a `SystemError` about a later call, and a file that cannot
    be closed ends the process with a fault of memory. `raising` and `require_written` raise what went wrong.
    """

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._held = bytearray()
        self._start = 0  # of what is held
        self._place = target.tell()
        self._failed: BaseException | None = None

    @contextmanager
    def raising(self) -> Iterator[None]:
        """Raises, in place of what was raised inside, the first error of the target, or what met it there."""
        try:
            yield
        except SystemError as error:
            raise _first(error) from None
        finally:
            self.require_written()

    def require_written(self) -> None:
        """Raises the first error of the target, if there was one."""
        if self._failed is not None:
            raise self._failed from None

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Moves to a place, which is returned."""
        try:
            if whence != io.SEEK_SET:
                self._put()
                place = self._target.seek(place, whence)
            self._place = place
        except BaseException as error:
            self._note(error)
        return self._place

    def tell(self) -> int:
        """Returns the place of the next byte."""
        return self._place

    def write(self, content: Any) -> int:
        """Takes the bytes for the next places; returns how many."""
        size = memoryview(content).nbytes
        try:
            if self._place != self._start + len(self._held) or len(self._held) >= AT_ONCE:
                self._put()
                self._start = self._place
            self._held += content
        except BaseException as error:
            self._note(error)
        self._place += size
        return size

    def read(self, size: int) -> bytes:
        """Returns the bytes from here on, up to a number; zeros after an error, in which HDF5 finds nothing."""
        content = b""
        try:
            self._put()
            self._target.seek(self._place)
            content = self._target.read(size)
        except BaseException as error:
            self._note(error)
        if self._failed is not None:
            content = bytes(size)
        self._place += len(content)
        return content

    def truncate(self, size: int) -> int:
        """Gives the file a size, which is returned."""
        try:
            self._put()
            self._target.truncate(size)
        except BaseException as error:
            self._note(error)
        return size

    def flush(self) -> None:
        """Hands everything on to the target, and flushes it."""
        try:
            self._put()
            self._target.flush()
        except BaseException as error:
            self._note(error)

    def _note(self, error: BaseException) -> None:
        """Keeps an error of the target, a time limit or Ctrl-C.

        Without tracebacks: one through a call that C made ends the process with a fault of memory when it exits.
        """
        error.__cause__ = error.__context__ = None
        self._failed = self._failed or error.with_traceback(None)

    def _put(self) -> None:
        held, self._held = self._held, bytearray()
        if held and self._failed is None:
            self._target.seek(self._start)
            self._target.write(held)
        self._start = 0


def _first(error: BaseException) -> BaseException:
    """Returns what was raised before a `SystemError` that is about it: a signal may come before any line above."""
    while isinstance(error, SystemError) and (before := error.__cause__ or error.__context__):
        error = before
    return error
