"""Reading of objects by ranges: one piece, or a stream that reads ahead.

The store may break off in the middle of a body, or send less than it promised. So the length of every piece is checked,
and missing bytes are requested again. All requests of one stream name the version that the first one found, unless the
object can have only one.
"""

import errno
import io
import os
import random
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from typing_extensions import Buffer, override

from resources.errors import StoreAccessError
from resources.seekable import Seekable
from resources.storage.s3.client import ATTEMPTS, ConditionError, S3Settings, client, received, translated, version_of

FIRST = 1 << 20
"""Bytes of the first request of a stream; an object of at most as many costs one request."""

AHEAD = 2
"""Parts that are requested while another is read."""

_STEP = 1 << 20
_LONGEST_WAIT = 5.0
_OUT_OF_RANGE = 416
_WHOLE = 200
_POOLS: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_POOLS.clear)


def pool(settings: S3Settings) -> ThreadPoolExecutor:
    """Returns the threads of this process that wait for stores."""
    if settings.concurrency not in _POOLS:
        _POOLS[settings.concurrency] = ThreadPoolExecutor(settings.concurrency, "s3")
    return _POOLS[settings.concurrency]


class Object(NamedTuple):
    """One object. name: how messages call it.

    fixed: whether its key can have only one content. It may be uploaded again while it is read, and then some stores
    give the same bytes another version: stores that encrypt, or if the parts differ.
    """

    settings: S3Settings
    bucket: str
    key: str
    name: str
    fixed: bool = False


class Piece(NamedTuple):
    """Bytes of an object from `start` on; total: bytes of the whole. etag: its version, without quotes."""

    start: int
    content: bytes
    total: int
    etag: str

    @property
    def stop(self) -> int:
        """The end of the piece."""
        return self.start + len(self.content)


def get(source: Object, start: int, size: int, etag: str | None = None) -> Piece:
    """Returns up to `size` bytes of an object from `start` on, fewer only at its end.

    etag: the version that it must have. Raises `FileNotFoundError` if there is no such object, `StoreAccessError` if
    the store does not answer, or broke off `ATTEMPTS` times without a byte, or if the object was replaced meanwhile.
    """
    found: list[bytes] = []
    have, failures, total = 0, 0, start + size
    while True:
        piece, total, etag = _attempt(source, start + have, start + size, etag)
        found.append(piece)
        have += len(piece)
        if have >= min(size, total - start):
            return Piece(start, found[0] if len(found) == 1 else b"".join(found), total, etag)
        failures = 0 if piece else failures + 1
        if failures >= ATTEMPTS:
            place = f"byte {start + have:,} of {total:,}"
            raise StoreAccessError(f"{source.name}: the store broke off at {place}, {ATTEMPTS} times")
        time.sleep(min(_LONGEST_WAIT, 0.05 * 2**failures) * random.random())


def _attempt(source: Object, start: int, stop: int, etag: str | None) -> tuple[bytes, int, str]:
    """Requests once; returns the bytes that came, the size of the object and its version."""
    condition = {"IfMatch": f'"{etag}"'} if etag and not source.fixed else {}
    with _of_one_version(source), translated(source.name):
        try:
            reply = client(source.settings).get_object(
                Bucket=source.bucket, Key=source.key, Range=f"bytes={start}-{stop - 1}", **condition
            )
        except client(source.settings).exceptions.ClientError as error:
            if error.response["ResponseMetadata"].get("HTTPStatusCode") == _OUT_OF_RANGE:
                return b"", 0, etag or ""  # The range is empty: an empty object, or the end was reached.
            raise
    version, total = version_of(reply, source.name), _total(source, reply, start)
    return _body(reply["Body"], min(stop, total) - start), total, version


@contextmanager
def _of_one_version(source: Object) -> Iterator[None]:
    try:
        yield
    except ConditionError:
        raise StoreAccessError(f"{source.name}: was replaced while it was read", errno.ESTALE) from None


def _total(source: Object, reply: Any, start: int) -> int:
    if "ContentRange" in reply:
        return int(reply["ContentRange"].rpartition("/")[2])
    if start:
        reply["Body"].close()
        raise StoreAccessError(f"{source.name}: the store does not know ranges")
    return int(reply["ContentLength"])


def _body(body: Any, size: int) -> bytes:
    """Returns up to `size` bytes of a body: fewer if it breaks off, and never more."""
    from botocore.exceptions import BotoCoreError, HTTPClientError
    from urllib3.exceptions import HTTPError

    found: list[bytes] = []
    left = size
    try:
        while left and (step := body.read(min(left, _STEP))):
            found.append(step)
            left -= len(step)
    except (BotoCoreError, HTTPClientError, HTTPError, OSError):
        pass  # The caller notices the missing bytes.
    finally:
        # A connection can be used again only if its body was read completely.
        if left:
            body.close()
    received(size - left)
    return found[0] if len(found) == 1 else b"".join(found)


class RangeReader(Seekable):
    """A seekable stream over an object whose first piece was read; reads ahead while it is read in order.

    Holds at most `AHEAD` + 2 parts in memory; arriving parts are there twice for a moment.
    """

    def __init__(self, source: Object, first: Piece) -> None:
        super().__init__()
        self._source = source
        self._piece = first
        self._total = first.total
        self._ahead: deque[Future[Piece]] = deque()
        self._asked = first.stop

    @override
    def end(self) -> int:
        return self._total

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        target = memoryview(buffer).cast("B")
        found = self._here()[: len(target)]
        target[: len(found)] = found
        self._position += len(found)
        return len(found)

    @override
    def readall(self) -> bytes:
        pieces = []
        while found := self._here():
            pieces.append(bytes(found))
            self._position += len(found)
        return b"".join(pieces)

    @override
    def close(self) -> None:
        self._forget()
        super().close()

    def _here(self) -> memoryview:
        """Returns bytes from the position on, at least one before the end of the object."""
        if self._position >= self._total:
            return memoryview(b"")
        if not self._piece.start <= self._position < self._piece.stop:
            self._piece = self._next() if self._position == self._piece.stop else self._elsewhere()
        return memoryview(self._piece.content)[self._position - self._piece.start :]

    def _next(self) -> Piece:
        self._ask()
        piece = self._ahead.popleft().result()
        self._ask()
        return piece

    def _ask(self) -> None:
        size = self._source.settings.part_size
        while len(self._ahead) < AHEAD and self._asked < self._total:
            self._ahead.append(
                pool(self._source.settings).submit(get, self._source, self._asked, size, self._piece.etag)
            )
            self._asked = min(self._total, self._asked + size)

    def _elsewhere(self) -> Piece:
        self._forget()
        piece = get(self._source, self._position, FIRST, self._piece.etag)
        self._asked = piece.stop
        return piece

    def _forget(self) -> None:
        for future in self._ahead:
            future.cancel()
        self._ahead.clear()


def stream(source: Object, first: Piece) -> io.BufferedIOBase:
    """Returns a stream over an object whose first piece was read."""
    if len(first.content) == first.total:
        return io.BytesIO(first.content)
    return io.BufferedReader(RangeReader(source, first), 1 << 17)
