"""Writers of partition files: they stream, count, and digest the uncompressed content as it goes by."""

from typing import BinaryIO, Protocol

import msgspec
import numpy as np
import xxhash
from isal import isal_zlib
from numpy.typing import DTypeLike, NDArray

from resources.documents import Document, encode_document

_BLOCK = 1 << 20
_NPY_HEADER = 256
GZIP_LEVEL = 1


class Written(msgspec.Struct, frozen=True):
    """What a finished file holds: digest of the uncompressed content, rows, uncompressed bytes."""

    digest: str
    rows: int
    content_bytes: int


class Writer(Protocol):
    """Anything that fills a file and can say what it wrote."""

    def finish(self) -> Written:
        """Complete the file; nothing can be written afterwards."""


class LineWriter:
    """Lines to gzip (isal level 1; header without name or time, so equal content gives equal bytes)."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._gzip = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, 31)
        self._hash = xxhash.xxh3_128()
        self._lines: list[bytes] = []
        self._held = 0
        self._rows = 0
        self._bytes = 0

    def write(self, line: bytes) -> None:
        """Add one line, newline included."""
        self._lines.append(line)
        self._held += len(line)
        self._rows += 1
        if self._held >= _BLOCK:
            self._flush()

    def _flush(self) -> None:
        block = b"".join(self._lines)
        self._hash.update(block)
        self._file.write(self._gzip.compress(block))
        self._bytes += self._held
        self._lines.clear()
        self._held = 0

    def finish(self) -> Written:
        """See `Writer.finish`."""
        self._flush()
        self._file.write(self._gzip.flush())
        return Written(self._hash.hexdigest(), self._rows, self._bytes)


class DocumentWriter(LineWriter):
    """Documents to `jsonl.gz`, one per row."""

    def add(self, document: Document) -> None:
        """Add one document."""
        self.write(encode_document(document))


class ArrayWriter:
    """Rows to one `.npy` file whose number is known only at the end.

    Blocks of shape (rows, *shape) are appended; the header, of fixed size, is written last.
    """

    def __init__(self, file: BinaryIO, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self._file = file
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._hash = xxhash.xxh3_128()
        self._rows = 0
        self._bytes = 0
        file.write(bytes(_NPY_HEADER))

    def append(self, block: NDArray[np.generic]) -> None:
        """Add rows; the block must have the dtype and the trailing shape that were promised."""
        if block.dtype != self._dtype or block.shape[1:] != self._shape:
            want = f"{self._dtype} (n, {', '.join(map(str, self._shape))})"
            raise ValueError(f"received a block of {block.dtype} {block.shape}, this file takes {want}")
        raw = np.ascontiguousarray(block).tobytes()
        self._hash.update(raw)
        self._file.write(raw)
        self._rows += len(block)
        self._bytes += len(raw)

    def finish(self) -> Written:
        """See `Writer.finish`."""
        shape = (self._rows, *self._shape)
        self._hash.update(npy_description(self._dtype, shape))
        self._file.seek(0)
        self._file.write(_npy_header(self._dtype, shape))
        return Written(self._hash.hexdigest(), self._rows, self._bytes)


def npy_description(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> bytes:
    """What the header of an `.npy` file says; part of the content digest, after the data."""
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    return repr(description).encode()


def _npy_header(dtype: np.dtype[np.generic], shape: tuple[int, ...]) -> bytes:
    """Version 1.0 header of the `.npy` format, padded to a fixed size."""
    text = npy_description(dtype, shape)
    room = _NPY_HEADER - 10
    if len(text) >= room:
        raise ValueError(f"dtype {dtype} does not fit a {_NPY_HEADER}-byte header")
    return b"\x93NUMPY\x01\x00" + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n"


class BytesWriter:
    """A small file written in one piece."""

    def __init__(self, file: BinaryIO, content: bytes, rows: int) -> None:
        file.write(content)
        self._written = Written(xxhash.xxh3_128_hexdigest(content), rows, len(content))

    def finish(self) -> Written:
        """See `Writer.finish`."""
        return self._written
