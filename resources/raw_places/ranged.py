"""A remote file as a seekable stream that reads ahead by ranges, in bounded memory."""

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, BinaryIO, cast

from typing_extensions import override

from resources.raw_places.remote import Remote, read_range
from resources.seekable import Seekable

PART = 8 << 20
"""Bytes of one request for a file that is read in order."""
AHEAD = 2
BLOCK = 256 << 10
"""Bytes of one request for a file that is read at random; longer reads are one request each."""
_BLOCKS = 16
_HEAD = 64 << 10
"""Readers that read no more than this only examine the beginning of a file."""


class Parts:
    """Bytes of a file that is read in order: the current part, and the next ones, which are being requested."""

    def __init__(self, remote: Remote, size: int, part: int) -> None:
        self._remote = remote
        self._size = size
        self._part = part
        self._parts: dict[int, bytes | Future[bytes]] = {}
        self._threads: ThreadPoolExecutor | None = None

    def piece(self, position: int, _: int) -> memoryview:
        """Returns bytes from a position on, at least one and no more than the rest of a part."""
        number, offset = divmod(position, self._part)
        wanted = range(number, number + 1 + (AHEAD if number or offset >= _HEAD else 0))
        self._parts = {known: part for known, part in self._parts.items() if known in wanted}
        if number not in self._parts:
            self._parts[number] = self._read(number)
        for later in wanted[1:]:
            if later not in self._parts and later * self._part < self._size:
                self._parts[later] = self._pool().submit(self._read, later)
        part = self._parts[number]
        if isinstance(part, Future):
            part = self._parts[number] = part.result()
        return memoryview(part)[offset:]

    def _read(self, number: int) -> bytes:
        first = number * self._part
        return read_range(self._remote, first, min(self._part, self._size - first))

    def _pool(self) -> ThreadPoolExecutor:
        self._threads = self._threads or ThreadPoolExecutor(AHEAD, "read-ahead")
        return self._threads

    def close(self) -> None:
        """Drops all parts, also those being requested."""
        self._parts = {}
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)


class Blocks:
    """Bytes of a file that is read at random: small blocks, of which the last 4 MiB are kept."""

    def __init__(self, remote: Remote, size: int) -> None:
        self._remote = remote
        self._size = size
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def piece(self, position: int, wanted: int) -> memoryview:
        """Returns bytes from a position on: all requested ones if they are many, else the rest of a block."""
        if wanted > BLOCK:
            return memoryview(read_range(self._remote, position, min(wanted, self._size - position)))
        number, offset = divmod(position, BLOCK)
        if number not in self._blocks:
            self._blocks[number] = read_range(self._remote, number * BLOCK, min(BLOCK, self._size - number * BLOCK))
            if len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return memoryview(self._blocks[number])[offset:]

    def close(self) -> None:
        """Drops all blocks."""
        self._blocks.clear()


class RangedFile(Seekable):
    """A binary stream over pieces of a file; a read gives all bytes that are asked for, or those up to the end."""

    def __init__(self, pieces: Parts | Blocks, size: int) -> None:
        super().__init__()
        self._pieces = pieces
        self._size = size

    @override
    def end(self) -> int:
        return self._size

    @override
    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and self._position < self._size:
            piece = self._pieces.piece(self._position, len(view) - done)[: len(view) - done]
            view[done : done + len(piece)] = piece
            done += len(piece)
            self._position += len(piece)
        return done

    @override
    def read(self, size: int | None = -1) -> bytes:
        rest = max(self._size - self._position, 0)
        found = bytearray(rest if size is None or size < 0 else min(size, rest))
        self.readinto(found)
        return bytes(found)

    @override
    def readall(self) -> bytes:
        return self.read()

    @override
    def close(self) -> None:
        if not self.closed:
            self._pieces.close()
        super().close()


def first_request(path: str) -> int:
    """Returns how many bytes the first request for a file asks for."""
    return BLOCK if _is_read_here_and_there(path) else PART


def _is_read_here_and_there(path: str) -> bool:
    return path.lower().endswith(".parquet")


def ranged(remote: Remote, path: str, size: int, part: int | None = None) -> BinaryIO:
    """Returns a stream over a file of known size; parquet files are read at random, all others in order.

    part: bytes of one request for a file that is read in order, `PART` by default.
    """
    pieces = Blocks(remote, size) if _is_read_here_and_there(path) else Parts(remote, size, part or PART)
    return cast(BinaryIO, RangedFile(pieces, size))
