"""Checks the pages of a parquet file against its footer, before a library decompresses them.

A footer states how many bytes the pages of a column decompress to. Libraries trust the page headers instead, which may
claim more. Source: the Parquet format's `PageHeader`, in the compact protocol of Thrift.
"""

import io
from collections.abc import Mapping
from typing import Any, BinaryIO, Final, NamedTuple

from typing_extensions import override

from resources.errors import BadFileError

_UNCOMPRESSED_SIZE, _COMPRESSED_SIZE = 2, 3
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_MAX_NESTING: Final = 8
DICTIONARY_HEAD_BYTES: Final = 512
"""Bytes that hold the header of a dictionary: it carries no statistics."""
_HEAD_BYTES: Final = 1 << 20


class PageError(ValueError):
    """The bytes at a position are no page header."""


class PageHeader(NamedTuple):
    """The header of a page: bytes of the header itself, and of the page as stored and decompressed."""

    own: int
    stored: int
    decompressed: int


class Chunk(NamedTuple):
    """The pages of one column in one row group according to the footer, in bytes.

    inner_values: number of values in lists, of which a row may have any number.
    """

    start: int
    stored: int
    decompressed: int
    has_dictionary: bool
    inner_values: int = 0

    @classmethod
    def of(cls, column: Any, *, in_lists: bool = False) -> "Chunk":
        """Returns the place of a column chunk, given its metadata; its dictionary comes first where it has one."""
        start, dictionary = column.data_page_offset, column.dictionary_page_offset
        if dictionary is not None and 0 < dictionary < start:
            start = dictionary
        coded = not {"PLAIN_DICTIONARY", "RLE_DICTIONARY"}.isdisjoint(column.encodings)
        return cls(
            start,
            column.total_compressed_size,
            column.total_uncompressed_size,
            coded,
            column.num_values if in_lists else 0,
        )


class WithheldError(Exception):
    """Reading is disabled at the moment."""


class CheckedPages(io.RawIOBase):
    """A stream over a parquet file that refuses a chunk whose pages hold more than the footer says.

    A library that reads without a buffer requests each whole chunk, so no byte is read twice.

    chunks: all chunks, by where they start. page_bytes: limit of one decompressed page. withheld: a read raises
    `WithheldError`. Raises `BadFileError`.
    """

    def __init__(self, raw: BinaryIO, where: str, page_bytes: int) -> None:
        self._raw = raw
        self._where = where
        self._page_bytes = page_bytes
        self.chunks: Mapping[int, Chunk] = {}
        self.withheld = False

    @override
    def readable(self) -> bool:
        return True

    @override
    def seekable(self) -> bool:
        return True

    @override
    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    @override
    def tell(self) -> int:
        return self._raw.tell()

    @override
    def read(self, size: int | None = -1) -> bytes:
        if self.withheld:
            raise WithheldError
        start = self._raw.tell()
        found = self._raw.read(-1 if size is None else size)
        if (chunk := self.chunks.get(start)) is not None and len(found) >= chunk.stored:
            self._check(chunk, memoryview(found)[: chunk.stored])
        return found

    def _check(self, chunk: Chunk, stored: memoryview) -> None:
        place = decompressed = 0
        while place < len(stored):
            try:
                page = page_header(stored[place : place + _HEAD_BYTES])
            except PageError as fault:
                raise BadFileError(self._where, f"byte {chunk.start + place} begins no page: {fault}") from None
            if page.decompressed > self._page_bytes:
                said = f"a page of {page.decompressed} bytes, over the limit of {self._page_bytes}"
                raise BadFileError(self._where, f"{said} (four times `longest_row`); write smaller pages")
            place += page.own + page.stored
            decompressed += page.own + page.decompressed
            if decompressed > chunk.decompressed:
                said = f"the pages at byte {chunk.start} decompress to more than the {chunk.decompressed} bytes"
                raise BadFileError(self._where, f"{said} that the footer promises")


def page_header(stored: bytes | memoryview) -> PageHeader:
    """Returns the header of the page at the start of `stored`; raises `PageError` where there is none."""
    fields = _Compact(stored)
    try:
        numbers = fields.struct(0)
        sizes = numbers[_COMPRESSED_SIZE], numbers[_UNCOMPRESSED_SIZE]
    except (IndexError, KeyError):
        raise PageError("it is cut, or has no sizes") from None
    if min(sizes) < 0:
        raise PageError("it has a size below 0")
    return PageHeader(fields.place, *sizes)


class _Compact:
    """Values in Thrift's compact protocol, one after another; `IndexError` where the bytes end."""

    def __init__(self, stored: bytes | memoryview) -> None:
        self._stored = stored
        self.place = 0

    def struct(self, depth: int) -> dict[int, int]:
        """Skips a struct; returns its numbers by field."""
        if depth > _MAX_NESTING:
            raise PageError("it nests too deep")
        numbers: dict[int, int] = {}
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self._number()
            value = self._value(kind, depth)
            if value is not None:
                numbers[field] = value
        return numbers

    def _value(self, kind: int, depth: int) -> int | None:
        """Skips a value; returns it if it is an integer."""
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            self._skip(1)
        elif kind < _DOUBLE:
            return self._number()
        elif kind == _DOUBLE:
            self._skip(8)
        elif kind == _BINARY:
            self._skip(self._varint())
        elif kind == _STRUCT:
            self.struct(depth + 1)
        elif kind in (_LIST, _SET):
            self._list(depth + 1)
        else:
            raise PageError(f"it has a value of type {kind}")
        return None

    def _list(self, depth: int) -> None:
        if depth > _MAX_NESTING:
            raise PageError("it nests too deep")
        head = self._byte()
        size = self._varint() if head >> 4 == 15 else head >> 4
        for _ in range(size):
            if head & 15 in (_TRUE, _FALSE):
                self._skip(1)
            else:
                self._value(head & 15, depth)

    def _byte(self) -> int:
        found = self._stored[self.place]
        self.place += 1
        return found

    def _skip(self, size: int) -> None:
        self.place += size
        if self.place > len(self._stored):
            raise IndexError

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise PageError("it has a number of more than 64 bits")

    def _number(self) -> int:
        zigzag = self._varint()
        return (zigzag >> 1) ^ -(zigzag & 1)
