"""The one reader of bytes from outside the store: it counts and digests what passes, wherever it is read.

The digest is over the whole file from its beginning, like that of a listing. Seeking forward reads the bytes in
between, and bytes that are read a second time are compared with the first time, block by block. So every byte that was
handed out is covered by the digest, even for a reader that goes back and forth.
"""

from collections import OrderedDict
from errno import EIO
from typing import Any, BinaryIO, Final

import xxhash
from typing_extensions import override

from resources.seekable import Seekable

BLOCK: Final = 256 << 10
"""Bytes that are read at once, and compared if they are read again."""

_STEP: Final = 8 << 20
"""Bytes that are read at once while seeking forward, since for a file elsewhere each read is a request."""

_KEPT: Final = 16
_UNKNOWN: Final = -1
_DIGEST: Final = 16


class OtherBytesError(OSError):
    """A second read of the same bytes of a file gave others.

    It is an `OSError` with a number, so that no library takes it for damaged content.
    """


class OutsideStream(Seekable):
    """A binary stream over a file from outside, at most 4 MiB of which it keeps, and 16 bytes for each `BLOCK`.

    Seeking costs nothing until bytes are read. Reading raises what the source raises, and `OtherBytesError`.

    source: at its beginning. fault: the last error of reading; a reader may have taken it for something else.
    """

    def __init__(self, source: BinaryIO) -> None:
        super().__init__()
        self.fault: Exception | None = None
        self._source = source
        self._at = 0
        self._whole = xxhash.xxh3_128()
        self._digests = bytearray()
        self._passed = 0
        self._ended = False
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    @property
    def passed(self) -> int:
        """How many bytes passed so far, each counted once."""
        return self._passed

    def drained(self) -> str:
        """Reads what nobody read yet; returns the xxh3-128 of the whole file."""
        while not self._ended:
            self._read_on(_STEP)
        return self._whole.hexdigest()

    @override
    def end(self) -> int:
        if self._ended:
            return self._passed
        self._at = self._sought(0, 2)
        return self._at

    @override
    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and (piece := self._piece(len(view) - done)):
            view[done : done + len(piece)] = piece
            done += len(piece)
        return done

    @override
    def read(self, size: int | None = -1) -> bytes:
        found = bytearray()
        while (size is None or size < 0 or len(found) < size) and (piece := self._piece(_left(size, len(found)))):
            found += piece
        return bytes(found)

    @override
    def readall(self) -> bytes:
        return self.read()

    @override
    def close(self) -> None:
        if not self.closed:
            self._kept.clear()
            self._source.close()
        super().close()

    def _piece(self, most: int) -> memoryview:
        """Returns the bytes from the position on, at most so many, and moves it by them; none at the end."""
        number, offset = divmod(self._position, BLOCK)
        piece = memoryview(self._block(number))[offset : offset + most]
        self._position += len(piece)
        return piece

    def _block(self, number: int) -> bytes:
        if (kept := self._kept.get(number)) is not None:
            self._kept.move_to_end(number)
            return kept
        if number * BLOCK < self._passed:
            return self._again(number)
        while not self._ended and number * BLOCK >= self._passed:
            self._read_on(BLOCK if number * BLOCK == self._passed else _STEP)
        if number * BLOCK >= self._passed:
            return b""
        return self._kept[number] if number in self._kept else self._again(number)

    def _read_on(self, size: int) -> None:
        """Lets the next bytes of the file pass. size: how many; a multiple of `BLOCK`."""
        content = self._read(self._passed, size)
        self._ended = len(content) < size
        self._whole.update(content)
        for start in range(0, len(content), BLOCK):
            block = content if len(content) <= BLOCK else content[start : start + BLOCK]
            self._digests += xxhash.xxh3_128_digest(block)
            self._keep((self._passed + start) // BLOCK, block)
        self._passed += len(content)

    def _again(self, number: int) -> bytes:
        first = number * BLOCK
        block = self._read(first, min(BLOCK, self._passed - first))
        if xxhash.xxh3_128_digest(block) != self._digests[number * _DIGEST : (number + 1) * _DIGEST]:
            self.fault = OtherBytesError(EIO, f"bytes from {first:,} on were others when they were read again")
            raise self.fault
        self._keep(number, block)
        return block

    def _keep(self, number: int, block: bytes) -> None:
        self._kept[number] = block
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _read(self, first: int, size: int) -> bytes:
        """Returns bytes of the source, fewer only at its end."""
        if self._at != first:
            self._sought(first)
        self._at = _UNKNOWN  # until all went well
        try:
            found = self._source.read(size)
            while len(found) < size and (more := self._source.read(size - len(found))):
                found += more
        except Exception as error:
            self.fault = error
            raise
        self._at = first + len(found)
        return found

    def _sought(self, place: int, whence: int = 0) -> int:
        try:
            return self._source.seek(place, whence)
        except Exception as error:
            self.fault = error
            raise


def _left(size: int | None, done: int) -> int:
    return BLOCK if size is None or size < 0 else size - done
