"""The digest of a file as it is stored, taken while the file is written or read in any order.

A content digest does not cover bytes that the project's reader ignores and another reader may need: the header of a
gzip member, an address in an HDF5 file. So a record has this digest of each file too. It is not part of the content,
since compressors may give different bytes for the same content, and nothing depends on it.
"""

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import xxhash
from typing_extensions import override

from resources.seekable import Seekable
from resources.system_errors import PlacedFile, at

BLOCK = 1 << 18
_OPEN = b""
"""Stands for the digest of a block that has to be read at the end."""

Read = Callable[[int, int], bytes]
"""Returns bytes of a file, by offset and size; fewer only at its end."""


class StoredDigest:
    """The xxh3-128 of the xxh3-128 of each 256 KiB of a file, as 32 hex digits.

    Bytes that come in order are digested as they come. Only blocks that are written a second time (a header, an index
    of HDF5) or have a gap are read at the end.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._last = xxhash.xxh3_128()
        self._is_open = False  # Whether the last, incomplete block has to be read.
        self._end = 0

    @property
    def end(self) -> int:
        """Bytes of the file as far as they are known."""
        return self._end

    def wrote(self, place: int, content: bytes | memoryview) -> None:
        """Notes bytes that were written at a position."""
        if place > self._end:
            self._reach(place)
        elif place < self._end:
            known = min(len(content), self._end - place)
            self._open(place, place + known)
            content = memoryview(content)[known:]
        if content:
            self._add(content)

    def read(self, place: int, content: bytes | memoryview) -> None:
        """Notes bytes that were read at a position: like `wrote`, but bytes that were read before have not changed.

        No bytes at a position after the end do not extend the file.
        """
        if not content:
            return
        if place > self._end:
            self.wrote(place, content)
        elif place + len(content) > self._end:
            self._add(memoryview(content)[self._end - place :])

    def cut(self, size: int) -> None:
        """Notes that the file has `size` bytes now; if it had fewer, zeros follow."""
        if size > self._end:
            self.wrote(size, b"")
        elif size < self._end:
            del self._blocks[size // BLOCK :]
            self._last, self._is_open, self._end = xxhash.xxh3_128(), True, size

    def forget(self) -> None:
        """Notes that anything may have been written, so that all of the file is read at the end."""
        self._open(0, self._end)

    def digest(self, size: int, read: Read) -> str:
        """Returns the digest of a file of `size` bytes; reads the blocks that did not come in order."""
        if size != self._end:
            self.cut(size)
        whole = xxhash.xxh3_128()
        for number, known in enumerate(self._blocks):
            whole.update(known or _digest_of(read, number * BLOCK, BLOCK))
        if left := size % BLOCK:
            whole.update(_digest_of(read, size - left, left) if self._is_open else self._last.digest())
        return whole.hexdigest()

    def _add(self, content: bytes | memoryview) -> None:
        """Digests bytes at the end."""
        room = BLOCK - self._end % BLOCK
        if len(content) < room:
            self._last.update(content)
            self._end += len(content)
            return
        rest = memoryview(content)
        while len(rest) >= room:
            self._last.update(rest[:room])
            self._end += room
            self._complete()
            rest, room = rest[room:], BLOCK
        self._last.update(rest)
        self._end += len(rest)

    def _complete(self) -> None:
        """Notes that the last block is full."""
        self._blocks.append(_OPEN if self._is_open else self._last.digest())
        self._last, self._is_open = xxhash.xxh3_128(), False

    def _reach(self, place: int) -> None:
        """Extends the file to a later end; the gap before it has to be read."""
        while self._end < place:
            self._is_open = True
            self._end = min(place, self._end - self._end % BLOCK + BLOCK)
            if self._end % BLOCK == 0:
                self._complete()

    def _open(self, start: int, stop: int) -> None:
        """Marks the blocks between two positions, neither after the end, to be read."""
        for number in range(start // BLOCK, -(-stop // BLOCK)):
            if number < len(self._blocks):
                self._blocks[number] = _OPEN
            else:
                self._is_open = True


def _digest_of(read: Read, offset: int, size: int) -> bytes:
    return xxhash.xxh3_128_digest(read(offset, size))


class WrittenFile(PlacedFile):
    """A new file whose digest is taken as it is written; `opened` puts a buffer over it."""

    def __init__(self, file: str | Path | int, shown: str | Path) -> None:
        super().__init__(file, "w+b", shown)
        self._taken = StoredDigest()

    @classmethod
    def opened(cls, file: str | Path | int, shown: str | Path) -> "tuple[WrittenFile, BinaryIO]":
        """Opens a file by its path or an empty one by its descriptor; returns it, and a buffer to write to.

        shown: its place as errors name it.
        """
        raw = cls(file, shown)
        return raw, cast(BinaryIO, io.BufferedRandom(raw))

    @property
    def descriptor(self) -> int:
        """The descriptor, for those who do not write to it."""
        return super().fileno()

    def stored_digest(self, descriptor: int) -> str:
        """Returns the digest of what was written and flushed. descriptor: of the same file, for this may be closed."""
        with at("reading again", self.shown):
            return self._taken.digest(os.fstat(descriptor).st_size, partial(_read, descriptor))

    @override
    def fileno(self) -> int:
        self._taken.forget()  # The caller may write to it, bypassing this object.
        return super().fileno()

    @override
    def write(self, content: Any, /) -> int:
        place = self.tell()
        written: int = super().write(content)
        self._taken.wrote(place, memoryview(content)[:written])
        return written

    @override
    def truncate(self, size: int | None = None, /) -> int:
        new = super().truncate(size)
        self._taken.cut(new)
        return new


def _read(descriptor: int, offset: int, size: int) -> bytes:
    return os.pread(descriptor, size, offset)


def digest_of(file: BinaryIO) -> str:
    """Returns the digest of a file, which is at its beginning."""
    return ReadFile(file).stored_digest()


class ReadFile(Seekable):
    """A stored file whose digest is taken while another reader reads it; the rest is read at the end.

    Closing it leaves the given file open.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._at = file.tell()
        self._taken = StoredDigest()

    @classmethod
    def opened(cls, file: BinaryIO) -> "tuple[ReadFile, BinaryIO]":
        """Returns the file that takes the digest, and the stream to read instead of the given one."""
        raw = cls(file)
        return raw, cast(BinaryIO, io.BufferedReader(raw))

    def stored_digest(self) -> str:
        """Returns the digest of the whole file."""
        place = self._taken.end
        while block := self._read(place, BLOCK):
            self._taken.read(place, block)
            place += len(block)
        return self._taken.digest(place, self._read)

    def _read(self, offset: int, size: int) -> bytes:
        if offset != self._at:
            self._file.seek(offset)
        content = self._file.read(size)
        self._at = offset + len(content)
        return content

    @override
    def end(self) -> int:
        self._at = self._file.seek(0, io.SEEK_END)
        return self._at

    @override
    def readinto(self, buffer: Any, /) -> int:
        content = self._read(self._position, len(buffer))
        self._taken.read(self._position, content)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)
