"""Checks the pages of a parquet file against its footer, before a library decompresses them.

A footer states how many bytes the pages of a column decompress to. Libraries trust the page headers instead, which may
claim more. Source: the Parquet format's `PageHeader`, in the compact protocol of Thrift.
"""

import io
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, NamedTuple

from typing_extensions import override

from resources.errors import BadFileError

_UNCOMPRESSED_SIZE, _COMPRESSED_SIZE = 2, 3
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_MAX_NESTING: Final = 8
_HEAD_BYTES: Final = 1 << 20


class PageError(ValueError):
    """The bytes at a position are no page header."""


_PAGE_KINDS: Final = {5: 2, 7: 2, 8: 4}
"""Fields of a page header that describe its kind of page, and the field in them that has the encoding."""
_VALUES: Final = 1
_LEVELS: Final = ((8, 5), (8, 6))
ENCODINGS: Final = {
    0: "PLAIN",
    2: "PLAIN_DICTIONARY",
    3: "RLE",
    4: "BIT_PACKED",
    5: "DELTA_BINARY_PACKED",
    6: "DELTA_LENGTH_BYTE_ARRAY",
    7: "DELTA_BYTE_ARRAY",
    8: "RLE_DICTIONARY",
    9: "BYTE_STREAM_SPLIT",
}
DICTIONARY: Final = frozenset({"PLAIN_DICTIONARY", "RLE_DICTIONARY"})
FRONT_CODED: Final = "DELTA_BYTE_ARRAY"
_SHARING: Final = DICTIONARY | {FRONT_CODED}
"""Encodings whose values may share bytes: a dictionary, and values that begin as the one before."""


_WIDTHS: Final = {"BOOLEAN": 1, "INT32": 4, "FLOAT": 4, "INT64": 8, "DOUBLE": 8, "INT96": 12}


class PageHeader(NamedTuple):
    """The header of a page: bytes of the header itself, and of the page as stored and decompressed.

    levels: bytes before the values that are never compressed; None if lengths in the page itself tell of levels.
    """

    own: int
    stored: int
    decompressed: int
    encoding: str
    values: int
    levels: int | None
    is_dictionary: bool


class Chunk(NamedTuple):
    """The pages of one column in one row group according to the footer, in bytes.

    path: of the column. encodings: of its pages.
    width: of a value of fixed size, which a null has in memory too; 0 for texts. levels: kinds of levels in a page.
    inner_values: number of values in lists, of which a row may have any number.
    """

    path: str
    start: int
    stored: int
    decompressed: int
    encodings: frozenset[str]
    width: int
    levels: int
    inner_values: int

    @classmethod
    def of(cls, column: Any, leaf: Any) -> "Chunk":
        """Returns the place of a column chunk, given its metadata and its column of the schema.

        Its dictionary comes first where it has one.
        """
        start, dictionary = column.data_page_offset, column.dictionary_page_offset
        if dictionary is not None and 0 < dictionary < start:
            start = dictionary
        return cls(
            leaf.path,
            start,
            column.total_compressed_size,
            column.total_uncompressed_size,
            frozenset(column.encodings) | ({"PLAIN_DICTIONARY"} if column.has_dictionary_page else set()),
            leaf.length if leaf.physical_type == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(leaf.physical_type, 0),
            (leaf.max_repetition_level > 0) + (leaf.max_definition_level > 0),
            column.num_values if leaf.max_repetition_level else 0,
        )

    @property
    def shares(self) -> bool:
        """Whether values may be stored once for many rows, or as an end alone."""
        return not self.encodings.isdisjoint(_SHARING)

    def may_have(self, encoding: str) -> bool:
        """Returns whether the footer tells of an encoding, if values in it may share bytes."""
        told = DICTIONARY if encoding in DICTIONARY else {encoding}
        return encoding not in _SHARING or not self.encodings.isdisjoint(told)


class WithheldError(Exception):
    """Reading is disabled at the moment."""


class CheckedPages(io.RawIOBase):
    """A stream over a parquet file that refuses a chunk whose pages hold more than the footer says.

    A library that reads without a buffer requests each whole chunk, so no byte is read twice. What is looked at before
    is kept until the library asks for it.

    chunks: all chunks, by where they start. page_bytes: limit of one decompressed page. withheld: a read raises
    `WithheldError`. blank: a read gives zeros. Raises `BadFileError`.
    """

    def __init__(self, raw: BinaryIO, where: str, page_bytes: int) -> None:
        self._raw = raw
        self._where = where
        self._page_bytes = page_bytes
        self.chunks: Mapping[int, Chunk] = {}
        self.withheld = self.blank = False
        self._kept: dict[int, bytes] = {}

    def pages(self, chunk: Chunk) -> Iterator[tuple[PageHeader, memoryview]]:
        """Yields the pages of a chunk, each with its stored bytes, which are kept for the library."""
        if (found := self._kept.get(chunk.start)) is None:
            self._raw.seek(chunk.start)
            found = self._kept[chunk.start] = self._raw.read(chunk.stored)
        yield from self._checked(chunk, memoryview(found))

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
        if self.blank:
            return bytes(max(size or 0, 0))
        start = self._raw.tell()
        if (kept := self._kept.pop(start, None)) is not None and size is not None and size >= len(kept):
            self._raw.seek(start + len(kept))
            return kept + self._raw.read(size - len(kept)) if size > len(kept) else kept
        self._raw.seek(start)
        found = self._raw.read(-1 if size is None else size)
        if (chunk := self.chunks.get(start)) is not None and len(found) >= chunk.stored:
            deque(self._checked(chunk, memoryview(found)[: chunk.stored]), maxlen=0)
        return found

    def _checked(self, chunk: Chunk, stored: memoryview) -> Iterator[tuple[PageHeader, memoryview]]:
        place = decompressed = 0
        while place < len(stored):
            try:
                page = page_header(stored[place : place + _HEAD_BYTES])
            except PageError as fault:
                raise BadFileError(self._where, f"byte {chunk.start + place} begins no page: {fault}") from None
            if page.decompressed > self._page_bytes:
                said = f"a page of {page.decompressed} bytes, over the limit of {self._page_bytes}"
                raise BadFileError(self._where, f"{said} (four times `longest_row`); write smaller pages")
            if not chunk.may_have(page.encoding):
                said = f"the page at byte {chunk.start + place} is encoded as {page.encoding}"
                raise BadFileError(self._where, f"{said}, which the footer does not say")
            body = stored[place + page.own : place + page.own + page.stored]
            place += page.own + page.stored
            decompressed += page.own + page.decompressed
            if decompressed > chunk.decompressed:
                said = f"the pages at byte {chunk.start} decompress to more than the {chunk.decompressed} bytes"
                raise BadFileError(self._where, f"{said} that the footer promises")
            yield page, body


def page_header(stored: bytes | memoryview) -> PageHeader:
    """Returns the header of the page at the start of `stored`; raises `PageError` where there is none."""
    fields = _Compact(stored)
    try:
        numbers = fields.struct()
        sizes = numbers[_COMPRESSED_SIZE,], numbers[_UNCOMPRESSED_SIZE,]
    except (IndexError, KeyError):
        raise PageError("it is cut, or has no sizes") from None
    if min(sizes) < 0:
        raise PageError("it has a size below 0")
    kind = next((kind for kind in _PAGE_KINDS.items() if kind in numbers), (0, 0))
    encoding = ENCODINGS.get(numbers.get(kind, -1), "none")
    levels = sum(numbers[place] for place in _LEVELS) if set(_LEVELS) <= numbers.keys() else None
    return PageHeader(fields.place, *sizes, encoding, numbers.get((kind[0], _VALUES), 0), levels, kind[0] == 7)


class Varints:
    """Numbers of variable length, one after another; `IndexError` where the bytes end."""

    def __init__(self, stored: bytes | memoryview) -> None:
        self._stored = stored
        self.place = 0

    def byte(self) -> int:
        """Returns the next byte."""
        found = self._stored[self.place]
        self.place += 1
        return found

    def take(self, size: int) -> memoryview:
        """Returns the next bytes."""
        self.place += size
        if self.place > len(self._stored):
            raise IndexError
        return memoryview(self._stored)[self.place - size : self.place]

    def varint(self) -> int:
        """Returns the next number, which is not below 0."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise PageError("it has a number of more than 64 bits")

    def number(self) -> int:
        """Returns the next number, which may be below 0."""
        zigzag = self.varint()
        return (zigzag >> 1) ^ -(zigzag & 1)


class _Compact(Varints):
    """Values in Thrift's compact protocol, one after another; `IndexError` where the bytes end."""

    def struct(self, path: tuple[int, ...] = ()) -> dict[tuple[int, ...], int]:
        """Skips a struct; returns its numbers and those of structs in it, by the fields that lead to them."""
        if len(path) > _MAX_NESTING:
            raise PageError("it nests too deep")
        numbers: dict[tuple[int, ...], int] = {}
        field = 0
        while head := self.byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self.number()
            if kind == _STRUCT:
                numbers |= self.struct((*path, field))
            elif (value := self._value(kind, len(path))) is not None:
                numbers[*path, field] = value
        return numbers

    def _value(self, kind: int, depth: int) -> int | None:
        """Skips a value; returns it if it is an integer."""
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            self.take(1)
        elif kind < _DOUBLE:
            return self.number()
        elif kind == _DOUBLE:
            self.take(8)
        elif kind == _BINARY:
            self.take(self.varint())
        elif kind == _STRUCT:
            self.struct((0,) * (depth + 1))
        elif kind in (_LIST, _SET):
            self._list(depth + 1)
        else:
            raise PageError(f"it has a value of type {kind}")
        return None

    def _list(self, depth: int) -> None:
        if depth > _MAX_NESTING:
            raise PageError("it nests too deep")
        head = self.byte()
        size = self.varint() if head >> 4 == 15 else head >> 4
        for _ in range(size):
            if head & 15 in (_TRUE, _FALSE):
                self.take(1)
            else:
                self._value(head & 15, depth)
