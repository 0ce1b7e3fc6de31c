"""Chunks of HDF5 files as they are stored: the byte planes of int32 values, deflated (`hdf5_layout`)."""

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

COMPRESSION_LEVEL = 1
CHUNK_VALUES = 3 << 10
INFLATED_BYTES = 1 << 20
"""Rows that are inflated together: few enough that all that is done with them finds them in the cache."""


@dataclass(frozen=True)
class StoredBlock:
    """Rows int32 (n, channels, positions), and the n chunks of one row each that hold them, which can be copied."""

    rows: NDArray[np.int32]
    chunks: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.rows)


def rows_in_chunk(row_shape: Sequence[int]) -> int:
    """Returns how many rows of a shape a chunk holds: as many as fit into 12 KiB, at least one."""
    return max(1, CHUNK_VALUES // math.prod(row_shape))


def inflated_blocks(lists: Iterable[Sequence[bytes]], row_shape: tuple[int, int]) -> Iterator[StoredBlock]:
    """Yields the rows that chunks of one row each hold, in blocks of about a MiB. OSError for a damaged chunk."""
    at_once = max(1, INFLATED_BYTES // (4 * math.prod(row_shape)))
    for chunks in lists:
        for first in range(0, len(chunks), at_once):
            yield _inflated_block(chunks[first : first + at_once], row_shape)


def _inflated_block(chunks: Sequence[bytes], row_shape: tuple[int, int]) -> StoredBlock:
    from resources.formats.kernels.planes import join_planes

    rows = np.empty((len(chunks), math.prod(row_shape)), np.int32)
    for row, stored in zip(rows, chunks, strict=True):
        join_planes(inflated(stored, row.size), 0, row)
    return StoredBlock(rows.reshape(-1, *row_shape), chunks)


def inflated(stored: bytes | memoryview, values: int) -> NDArray[np.uint8]:
    """Returns the planes (4, values) of a chunk, of which no more is inflated. OSError if it does not hold them."""
    size = 4 * values
    inflater = isal_zlib.decompressobj()
    content = inflater.decompress(stored, size + 1)
    if len(content) != size or not inflater.eof:
        raise OSError(f"chunk of {len(stored)} bytes does not hold {size} bytes behind shuffle and deflate")
    return np.frombuffer(content, np.uint8).reshape(4, -1)


def deflated_row(row: NDArray[np.int32]) -> bytes:
    """Returns a row as a chunk of its own."""
    from resources.formats.kernels.planes import split_planes

    planes = np.empty((4, row.size), np.uint8)
    bits = int(split_planes(row.reshape(-1), planes, 0))
    return deflated(planes, used_planes(bits))


def used_planes(bits: int) -> int:
    """Returns how many planes are not zero. bits: those that any value has."""
    return -(-bits.bit_length() // 8)


def deflated(planes: NDArray[np.uint8], used: int) -> bytes:
    """Returns the planes, of which all from number `used` on are zero, as one zlib stream.

    Like most compressors, isal encodes a run of zeros as a copy from one byte back. Inflaters then copy byte by byte,
    which takes half the time of a row. So the zeros at the end are deflated in another way.
    """
    stream = isal_zlib.compressobj(COMPRESSION_LEVEL)
    content = stream.compress(planes[:used].data) + stream.flush(isal_zlib.Z_SYNC_FLUSH)
    return content + _deflated_zeros(planes[used:].size) + isal_zlib.adler32(planes.data).to_bytes(4, "big")


@lru_cache(maxsize=16)
def _deflated_zeros(size: int) -> bytes:
    """Returns the end of a raw deflate stream: zeros that are copied 258 at once, as zlib does at its first level."""
    stream = zlib.compressobj(1, wbits=-zlib.MAX_WBITS)
    return stream.compress(bytes(size)) + stream.flush()
