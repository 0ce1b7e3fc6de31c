"""The messages of Arrow files and streams, each of which is checked before a library decodes it.

Source: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc, and the
schemas `Message.fbs` and `File.fbs` in it.
"""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from corpus_assets.raw.formats.flat_buffers import FlatBufferError, Table
from resources.errors import BadFileError

MAGIC: Final = b"ARROW1"
_FIRST: Final = 8
"""Where the first message of a file begins."""
_MARK: Final = b"\xff\xff\xff\xff"
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of a message
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3  # fields of a batch
_ID, _DATA, _IS_DELTA = 0, 1, 2  # fields of a dictionary
_DICTIONARIES, _BATCHES = 2, 3  # fields of a footer
_BLOCK: Final = struct.Struct("<qi4xq")
_BUFFER: Final = struct.Struct("<qq")
_MOST_METADATA: Final = 64 << 20
_ROW_BYTES: Final = 8
"""Bytes that each row counts at least: a column of nulls stores none."""
END: Final = _MARK + bytes(4)


@dataclass
class Allowance:
    """What the messages of a file may hold. batch_bytes: one of them, decompressed. total_bytes: all of them."""

    batch_bytes: int
    total_bytes: int
    dictionaries: dict[int, int] = field(default_factory=dict)

    def take(self, size: int, rows: int, where: str) -> None:
        """Counts a message; `BadFileError` if it holds too much."""
        if size > self.batch_bytes:
            said = f"a record batch of {size} bytes, over the limit of {self.batch_bytes} (four times `longest_row`)"
            raise BadFileError(where, f"{said}; write smaller batches")
        self.total_bytes -= max(size, rows * _ROW_BYTES)
        if self.total_bytes < 0:
            raise BadFileError(where, "its batches have more bytes and rows than a file of its size may have")

    def keep(self, number: int, size: int, where: str, *, delta: bool) -> None:
        """Counts a dictionary, which is held until another replaces it; delta: it is added to the one before."""
        self.dictionaries[number] = size + (self.dictionaries.get(number, 0) if delta else 0)
        if (held := sum(self.dictionaries.values())) > self.batch_bytes:
            raise BadFileError(
                where, f"dictionaries of {held} bytes, over the limit of {self.batch_bytes} (four times `longest_row`)"
            )


class CheckedMessages:
    """A stream of the messages of a file, each checked, for a library that reads streams."""

    closed = False

    def __init__(self, raw: BinaryIO, where: str, stored_bytes: int, allowance: Allowance) -> None:
        self._raw = raw
        self._where = where
        self._stored = stored_bytes
        self._allowance = allowance
        self._messages = self._of_file() if raw.read(len(MAGIC)) == MAGIC else self._of_stream()
        self._pieces: list[bytes] = []

    def read(self, size: int) -> bytes:
        """Returns the next bytes."""
        while not self._pieces:
            message = next(self._messages, None)
            if message is None:
                return b""
            self._pieces = [piece for piece in message if piece]
        first = self._pieces[0]
        if size >= len(first):
            return self._pieces.pop(0)
        self._pieces[0] = first[size:]
        return first[:size]

    def _of_stream(self) -> Iterator[Sequence[bytes]]:
        place = 0
        while (message := self._message(place, (_SCHEMA, _DICTIONARY, _BATCH))) is not None:
            place += sum(map(len, message))
            yield _continued(message)
        self._raw.seek(place)
        rest = self._raw.read(len(END) + 1)
        if rest not in (END, bytes(4)):
            raise BadFileError(self._where, f"has data after the end of its stream at byte {place}")
        yield (END,)

    def _of_file(self) -> Iterator[Sequence[bytes]]:
        footer = self._footer()
        yield _continued(self._required(_FIRST, _SCHEMA))
        for number, kind in ((_DICTIONARIES, _DICTIONARY), (_BATCHES, _BATCH)):
            with self._sound():
                blocks = footer.structs(number, _BLOCK)
            for offset, *_ in blocks:
                yield _continued(self._required(offset, kind))
        yield (END,)

    def _footer(self) -> Table:
        end = self._stored - len(MAGIC) - 4
        if end < _FIRST:
            raise BadFileError(self._where, "is cut: an Arrow file has a footer")
        self._raw.seek(end)
        length, magic = struct.unpack("<i6s", self._raw.read(4 + len(MAGIC)).ljust(10))
        if magic != MAGIC or not 0 < length <= min(end - _FIRST, _MOST_METADATA):
            raise BadFileError(self._where, "is cut: an Arrow file ends with a footer and the letters ARROW1")
        self._raw.seek(end - length)
        with self._sound():
            return Table.root(self._raw.read(length))

    def _required(self, place: int, kind: int) -> tuple[bytes, bytes, bytes]:
        message = self._message(place, (kind,)) if _FIRST <= place < self._stored else None
        if message is None:
            raise BadFileError(self._where, f"has no message at byte {place}, where its footer names one")
        return message

    def _message(self, place: int, kinds: Sequence[int]) -> tuple[bytes, bytes, bytes] | None:
        """Returns the parts of the message at a place: its prefix, metadata and body; None at the end of a stream."""
        self._raw.seek(place)
        prefix = self._raw.read(4)
        if prefix == _MARK:
            prefix += self._raw.read(4)
        length = int.from_bytes(prefix[-4:], "little", signed=True)
        if len(prefix) < 4 or (prefix[:4] == _MARK and len(prefix) < 8):
            raise BadFileError(self._where, f"is cut: no message, and no end of the stream, at byte {place}")
        if not length:
            return None
        left = self._stored - place - len(prefix)
        if not 0 < length <= min(left, _MOST_METADATA):
            raise BadFileError(self._where, f"is cut or corrupt: a message of {length} bytes at byte {place}")
        metadata = self._raw.read(length)
        with self._sound():
            message = Table.root(metadata)
            body_length, kind = message.int64(_BODY_LENGTH), message.uint8(_HEADER_TYPE)
        if not 0 <= body_length <= left - length:
            raise BadFileError(self._where, f"is cut or corrupt: {body_length} bytes of values at byte {place}")
        if body_length > self._allowance.batch_bytes:
            self._allowance.take(body_length, 0, self._where)
        if kind not in kinds:
            raise BadFileError(self._where, f"has a message of kind {kind} at byte {place}; valid: {kinds}")
        body = self._raw.read(body_length)
        if len(metadata) < length or len(body) < body_length:
            raise BadFileError(self._where, f"is cut: the message at byte {place} is not whole")
        with self._sound():
            self._check(kind, message, body)
        return prefix, metadata, body

    def _check(self, kind: int, message: Table, body: bytes) -> None:
        if kind == _SCHEMA:
            return
        header = message.table(_HEADER)
        batch = header.table(_DATA) if kind == _DICTIONARY else header
        size = _decompressed(batch, body)
        self._allowance.take(size, batch.int64(_LENGTH), self._where)
        if kind == _DICTIONARY:
            self._allowance.keep(header.int64(_ID), size, self._where, delta=header.uint8(_IS_DELTA) != 0)

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except FlatBufferError as fault:
            raise BadFileError(self._where, f"is corrupt: {fault}") from None


def _continued(message: tuple[bytes, bytes, bytes]) -> Sequence[bytes]:
    """Returns a message with the prefix of today's streams."""
    prefix, metadata, body = message
    return (_MARK + prefix[-4:], metadata, body)


def _decompressed(batch: Table, body: bytes) -> int:
    """Returns the bytes of the buffers of a batch after decompression."""
    buffers = list(batch.structs(_BUFFERS, _BUFFER))
    if any(offset < 0 or length < 0 or offset + length > len(body) for offset, length in buffers):
        raise FlatBufferError("a buffer lies outside its message")
    if batch.int64(_LENGTH) < 0:
        raise FlatBufferError("a batch has a number of rows below 0")
    if not batch.has(_COMPRESSION):
        return sum(length for _, length in buffers)
    sizes = [int.from_bytes(body[at : at + 8], "little", signed=True) for at, length in buffers if length]
    if any(length and length < 8 for _, length in buffers) or any(size < -1 for size in sizes):
        raise FlatBufferError("a compressed buffer does not say its size")
    return sum(max(size, 0) for size in sizes) + len(body)
