"""Headers of `.npy` files of anybody: read without pickle, and believed only where the size of the file agrees."""

import io
from collections.abc import Iterator
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpus_assets.token_files.pieces import TokenFile

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 1 << 16


def integers(file: TokenFile) -> tuple[np.dtype[Any], int]:
    """Returns type and number of the integers of a one-dimensional array; the file is then read at the first of them.

    `BadFileError` for anything else, and for a file with fewer or more bytes than its header says.
    """
    file.file.seek(0)
    version = file.read(8, "the header of an array")
    if not version.startswith(_MAGIC):
        raise file.bad(f"begins with {version[:6]!r}; valid: an array of NumPy, which begins with {_MAGIC!r}")
    width = {1: 2, 2: 4, 3: 4}.get(version[6])
    if width is None:
        raise file.bad(f"is an array in version {version[6]}.{version[7]} of the format; valid: 1.0 to 3.0")
    said = file.read(width, "the header of an array")
    size = int.from_bytes(said, "little")
    if size > _LONGEST_HEADER:
        raise file.bad(f"has a header of {size:,} bytes; valid: at most {_LONGEST_HEADER:,}")
    dtype, shape = _parsed(file, said + file.read(size, "the header of an array"), version[6])
    if dtype.kind not in "iu" or len(shape) != 1:
        raise file.bad(f"holds {dtype} of shape {shape}; valid: integers in one dimension")
    start, length = 8 + width + size, shape[0]
    if (found := file.size - start) != length * dtype.itemsize:
        needed = length * dtype.itemsize
        raise file.bad(f"has {found:,} bytes of numbers; its header says {length:,} {dtype}, which are {needed:,}")
    return dtype, length


def _parsed(file: TokenFile, header: bytes, version: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Returns type and shape. NumPy reads the header as a literal; no name in it is looked up, nothing is called."""
    read = np.lib.format.read_array_header_1_0 if version == 1 else np.lib.format.read_array_header_2_0
    try:
        shape, _, dtype = read(io.BytesIO(header), max_header_size=_LONGEST_HEADER)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, TokenError) as fault:
        raise file.bad(f"has a header that is none of NumPy's ({fault})") from None
    if dtype.hasobject:
        raise file.bad("holds Python objects, which are never read; valid: integers in one dimension")
    return dtype, shape


def lengths_of(file: TokenFile, dtype: np.dtype[Any], count: int) -> Iterator[NDArray[np.int64]]:
    """Yields the next lengths of documents in blocks; `BadFileError` names one that is negative or too large."""
    number = 0
    for block in file.blocks(dtype, count, "a length"):
        wrong = np.flatnonzero((block < 0) | (block > np.int64(2**31 - 1)))
        if len(wrong):
            raise file.bad(f"document {number + wrong[0]:,} has {block[wrong[0]]:,} ids; valid: 0 to 2,147,483,647")
        yield block.astype(np.int64)
        number += len(block)
