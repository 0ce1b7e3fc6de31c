"""Arrays in `.npy` files: written as a stream of rows, read by ranges of rows."""

import ast
import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
import xxhash
from numpy.typing import DTypeLike, NDArray
from typing_extensions import override

from resources.errors import LedgerError
from resources.formats.file_format import FileFormat, Open, blocks_of
from resources.formats.writers import Writer, Written

HEADER_BYTES = 256
_MAGIC = b"\x93NUMPY\x01\x00"


class ArrayWriter(Writer):
    """Writes rows to one `.npy` file; their number need not be known before the end.

    `append` takes blocks of shape (rows, *shape); the header, of fixed size, is written last.
    """

    def __init__(self, file: BinaryIO, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self._file = file
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._hash = xxhash.xxh3_128()
        self._rows = 0
        self._bytes = 0
        file.write(bytes(HEADER_BYTES))

    def append(self, block: NDArray[np.generic]) -> None:
        """Adds rows; ValueError unless the block has the dtype and the trailing shape that the writer was given."""
        if block.dtype != self._dtype or block.shape[1:] != self._shape:
            want = f"{self._dtype} (n, {', '.join(map(str, self._shape))})"
            raise ValueError(f"received a block of {block.dtype} {block.shape}, this file takes {want}")
        raw = np.ascontiguousarray(block).tobytes()
        self._hash.update(raw)
        self._file.write(raw)
        self._rows += len(block)
        self._bytes += len(raw)

    @override
    def _complete(self) -> Written:
        shape = (self._rows, *self._shape)
        self._hash.update(_description(self._dtype, shape))
        self._file.seek(0)
        self._file.write(_header(self._dtype, shape))
        return Written(self._hash.hexdigest(), self._rows, self._bytes)


@lru_cache(maxsize=1 << 12)
def _description(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Returns the text of a header; the content digest covers it, after the data."""
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    return repr(description).encode()


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Returns a version 1.0 header of the `.npy` format, padded to a fixed size."""
    text = _description(dtype, shape)
    room = HEADER_BYTES - 10
    if len(text) >= room:
        raise ValueError(f"dtype {dtype} does not fit a {HEADER_BYTES}-byte header")
    return _MAGIC + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n"


def _parsed(header: bytes, path: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Returns type and shape from a header of `ArrayWriter`; `LedgerError` for anything else."""
    try:
        return _type_and_shape(header)
    except (ValueError, SyntaxError, KeyError, TypeError) as error:
        raise LedgerError(f"{path}: not an array of this store ({error}); run `corpus verify --deep`") from None


@lru_cache(maxsize=1 << 12)  # Thousands of small shards have few headers between them.
def _type_and_shape(header: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if len(header) != HEADER_BYTES or header[:10] != _MAGIC + (HEADER_BYTES - 10).to_bytes(2, "little"):
        raise ValueError("other beginning")
    found = ast.literal_eval(header[10:].decode("latin-1"))
    dtype, shape = np.lib.format.descr_to_dtype(found["descr"]), found["shape"]
    if dtype.hasobject or found["fortran_order"] or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise ValueError("objects or column order")
    return dtype, shape


def read_rows(read: Callable[[int, int], bytes], path: str, start: int, stop: int) -> NDArray[Any]:
    """Returns rows `start` to `stop` of an array; `read(offset, size)` gives bytes of its file.

    `LedgerError` if the file, named `path` in the message, does not hold those rows.
    """
    dtype, shape = _parsed(read(0, HEADER_BYTES), path)
    _require_rows(shape[0], path, start, stop)
    row_bytes = dtype.itemsize * math.prod(shape[1:])
    content = read(HEADER_BYTES + start * row_bytes, (stop - start) * row_bytes)
    if len(content) != (stop - start) * row_bytes:
        raise LedgerError(f"{path} is cut off; run `corpus verify --deep`")
    return np.frombuffer(content, dtype).reshape(stop - start, *shape[1:]).copy()


def chosen_rows(array: NDArray[Any], path: str, start: int, stop: int) -> NDArray[Any]:
    """Returns rows `start` to `stop` of an array; `LedgerError` if it does not have them."""
    _require_rows(len(array), path, start, stop)
    return array[start:stop]


def _require_rows(rows: int, path: str, start: int, stop: int) -> None:
    if not 0 <= start <= stop <= rows:
        raise LedgerError(f"{path} has {rows} rows; rows {start} to {stop} were asked for")


def whole(content: bytes | memoryview, path: str) -> NDArray[Any]:
    """Returns the array of a whole file, read-only and without a copy; `LedgerError` if it is not one."""
    dtype, shape = _parsed(bytes(content[:HEADER_BYTES]), path)
    if len(content) != HEADER_BYTES + dtype.itemsize * math.prod(shape):
        raise LedgerError(f"{path} is cut off; run `corpus verify --deep`")
    return np.frombuffer(content, dtype, offset=HEADER_BYTES).reshape(shape)


def _digest(open_file: Open, path: str) -> str:
    hasher = xxhash.xxh3_128()
    with open_file(path) as file:
        dtype, shape = _parsed(file.read(HEADER_BYTES), path)
        for block in blocks_of(file):
            hasher.update(block)
    hasher.update(_description(dtype, shape))
    return hasher.hexdigest()


def _digest_of_content(content: bytes, path: str) -> str:
    dtype, shape = _parsed(content[:HEADER_BYTES], path)
    hasher = xxhash.xxh3_128(memoryview(content)[HEADER_BYTES:])
    hasher.update(_description(dtype, shape))
    return hasher.hexdigest()


def _preview(open_file: Open, path: str, rows: int) -> Iterator[str]:
    with open_file(path) as file:

        def read(offset: int, size: int) -> bytes:
            file.seek(offset)
            return file.read(size)

        dtype, shape = _parsed(read(0, HEADER_BYTES), path)
        yield f"{dtype} {shape}"
        yield from map(shown, read_rows(read, path, 0, min(rows, shape[0])))


def shown(value: Any) -> str:
    """Returns a row as a person reads it: digests, which are vectors of bytes, as hex digits."""
    if isinstance(value, np.void) and value.dtype.names:
        return f"({', '.join(shown(value[name]) for name in value.dtype.names)})"
    if isinstance(value, np.ndarray) and value.dtype == np.uint8:
        return value.tobytes().hex()
    return str(value)


ARRAYS = FileFormat(".npy", _digest, _preview, _digest_of_content)
