"""Writes token rows to HDF5 as a stream (`hdf5_layout`)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import h5py
import numpy as np
from numpy.typing import NDArray

from resources.formats.hdf5.chunks import COMPRESSION_LEVEL, StoredBlock, deflated, rows_in_chunk, used_planes
from resources.formats.hdf5.joined import JoinedWrites
from resources.formats.hdf5.layout import RESERVED, Attribute, start_digest

CHUNKS_AT_ONCE = 64


@dataclass(frozen=True)
class WriteSummary:
    """The content of a written file: rows, shape of the dataset, digest of rows and attributes (32 hex digits)."""

    rows: int
    shape: tuple[int, int, int]
    content_digest: str


def write_hdf5(
    target: BinaryIO,
    blocks: Iterable[NDArray[np.int32] | StoredBlock],
    attributes: Mapping[str, Attribute],
    *,
    features: Sequence[str],
    sequence_length: int,
    rows_per_chunk: int | None = None,
    recipe: str = "",
) -> WriteSummary:
    """Writes blocks (rows, len(features), sequence_length) one after another as dataset `data`.

    `target` is a seekable binary file open for reading and writing; it is flushed and stays open. Memory holds one
    block and one chunk; by default a chunk has as many rows as fit in 12 KiB, at least one. Where a chunk has one row,
    those of a `StoredBlock` are copied. Without blocks the dataset has 0 rows. The file gets `attributes`, the row
    count `n_examples`, `features`, the `content_digest`, and the `recipe`, which the digest does not cover. Equal input
    gives equal rows and attributes, for any cut into blocks, but not always equal bytes: isal sometimes finds other
    matches for the same input (intel/isa-l issue 140).

    Raises ValueError for a block of another shape or dtype and for an attribute with a reserved name.
    """
    if reserved := set(RESERVED) & set(attributes):
        raise ValueError(f"attributes {sorted(reserved)} are set by the writer")
    row_shape = (len(features), sequence_length)
    digest = start_digest(attributes, features)
    joined = JoinedWrites(target)
    with joined.raising(), h5py.File(joined, "w", track_order=False) as file:
        data = file.create_dataset(
            "data",
            shape=(0, *row_shape),
            maxshape=(None, *row_shape),
            chunks=(rows_per_chunk or rows_in_chunk(row_shape), *row_shape),
            dtype="<i4",
            shuffle=True,
            compression="gzip",
            compression_opts=COMPRESSION_LEVEL,
            track_times=False,
        )
        chunks = _ChunkWriter(data)
        for given in blocks:
            block = given.rows if isinstance(given, StoredBlock) else given
            if block.shape[1:] != row_shape or block.dtype != np.int32:
                raise ValueError(f"received a block {block.dtype} {block.shape}; valid: int32 (rows, {row_shape})")
            values = np.ascontiguousarray(block).reshape(-1)
            digest.update(values.data)
            if isinstance(given, StoredBlock) and chunks.is_row_each:
                chunks.copy(given.chunks)
            else:
                chunks.add(values)
            joined.require_written()
        rows = chunks.finish()
        content_digest = digest.hexdigest()
        own: dict[str, Any] = {
            "n_examples": rows,
            "features": list(features),
            "content_digest": content_digest,
            "recipe": recipe,
        }
        for name, value in sorted({**attributes, **own}.items()):
            file.attrs[name] = value
    joined.flush()
    joined.require_written()
    return WriteSummary(rows, (rows, *row_shape), content_digest)


class _ChunkWriter:
    """Fills one chunk at a time in the layout of the shuffle filter, and writes it without HDF5's own slow deflate."""

    def __init__(self, data: h5py.Dataset) -> None:
        rows, *row_shape = data.chunks
        self._data = data.id
        self._row_shape = tuple(row_shape)
        self._row_size = math.prod(row_shape)
        self._planes = np.zeros((4, rows * self._row_size), np.uint8)
        self._filled = 0
        self._bits = 0  # that any value of the chunk has
        self._rows = 0  # in the chunks written
        self._extent = 0  # rows that the dataset has room for

    @property
    def is_row_each(self) -> bool:
        """Whether a chunk is one row."""
        return bool(self._planes.shape[1] == self._row_size)

    def copy(self, chunks: Iterable[bytes]) -> None:
        """Adds chunks of one row each as they are stored."""
        for stored in chunks:
            self._put(stored, 1)

    def add(self, values: NDArray[np.int32]) -> None:
        """Adds whole rows, as flat values."""
        from resources.formats.kernels.planes import split_planes

        room = self._planes.shape[1]
        while values.size:
            fitting, values = values[: room - self._filled], values[room - self._filled :]
            self._bits |= int(split_planes(fitting, self._planes, self._filled))
            self._filled += fitting.size
            if self._filled == room:
                self._write()

    def finish(self) -> int:
        """Writes the last, incomplete chunk, which is stored at full size; returns the rows of the dataset."""
        if self._filled:
            self._planes[:, self._filled :] = 0
            self._write()
        self._data.set_extent((self._rows, *self._row_shape))
        return self._rows

    def _write(self) -> None:
        stored = deflated(self._planes, used_planes(self._bits))
        rows = self._filled // self._row_size
        self._filled = self._bits = 0
        self._put(stored, rows)

    def _put(self, stored: bytes, rows: int) -> None:
        first = self._rows
        self._rows += rows
        if self._rows > self._extent:  # Making room for many chunks takes HDF5 no longer than for one.
            self._extent = first + CHUNKS_AT_ONCE * (self._planes.shape[1] // self._row_size)
            self._data.set_extent((self._extent, *self._row_shape))
        self._data.write_direct_chunk((first, 0, 0), stored)
