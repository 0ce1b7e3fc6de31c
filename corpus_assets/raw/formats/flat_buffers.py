"""Reads single values of FlatBuffers, in which Arrow writes its metadata; checks every place before it is read.

Source: https://flatbuffers.dev/internals/.
"""

import struct
from collections.abc import Iterator
from typing import Any


class FlatBufferError(Exception):
    """A place lies outside the buffer."""


class Table:
    """A table in a buffer. A field that is absent is 0."""

    def __init__(self, buffer: bytes, place: int) -> None:
        self._buffer = buffer
        self._place = place
        self._fields = place - self._number("<i", place)
        self._end = self._number("<H", self._fields)

    @classmethod
    def root(cls, buffer: bytes) -> "Table":
        """Returns the table that a buffer holds; `FlatBufferError` if it holds none."""
        return cls(buffer, _number(buffer, "<I", 0))

    def has(self, field: int) -> bool:
        """Returns whether a field is given."""
        return self._at(field) is not None

    def int64(self, field: int) -> int:
        """Returns a number of eight bytes."""
        return self._value("<q", field)

    def uint8(self, field: int) -> int:
        """Returns a number of one byte."""
        return self._value("<B", field)

    def table(self, field: int) -> "Table":
        """Returns a table in a field; `FlatBufferError` if there is none."""
        place = self._at(field)
        if place is None:
            raise FlatBufferError("a table is missing")
        return Table(self._buffer, place + self._number("<I", place))

    def structs(self, field: int, kind: struct.Struct) -> Iterator[tuple[Any, ...]]:
        """Returns the values of each struct in a list; none if there is no list."""
        place = self._at(field)
        if place is None:
            return iter(())
        start = place + self._number("<I", place)
        end = start + 4 + self._number("<I", start) * kind.size
        if end > len(self._buffer):
            raise FlatBufferError("a list ends outside its buffer")
        # Not `iter_unpack` of a view: Python 3.11 crashes when it collects one in a cycle, as in a traceback.
        return (kind.unpack_from(self._buffer, place) for place in range(start + 4, end, kind.size))

    def _value(self, kind: str, field: int) -> int:
        place = self._at(field)
        return 0 if place is None else self._number(kind, place)

    def _at(self, field: int) -> int | None:
        offset = 4 + 2 * field
        step = self._number("<H", self._fields + offset) if offset + 2 <= self._end else 0
        return self._place + step if step else None

    def _number(self, kind: str, place: int) -> int:
        return _number(self._buffer, kind, place)


def _number(buffer: bytes, kind: str, place: int) -> int:
    if not 0 <= place <= len(buffer) - struct.calcsize(kind):
        raise FlatBufferError(f"byte {place} is asked for in {len(buffer)} bytes")
    return int(struct.unpack_from(kind, buffer, place)[0])
