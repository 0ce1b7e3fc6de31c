"""Token rows in HDF5: one dataset `data` (rows, channels, L) int32, written as a stream and read lazily.

The layout follows Cerebras' Model Zoo (docs/formats/cerebras-hdf5.md "File layout" and "Readers"), so Cerebras' readers
open the files. Our additions are named attributes and the byte shuffle filter, behind which rows take less room.

A chunk holds one row, as in Cerebras' files, since trainers read rows at random and a row costs a whole chunk. Only
short rows share one, where opening a chunk costs more than its content.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO, Final, cast

import h5py
import numpy as np
import xxhash
from isal import isal_zlib
from numpy.typing import NDArray

from resources.errors import BadFileError
from resources.formats.file_format import FileFormat, Open

Attribute = str | int | float | list[str] | tuple[str, ...]

LM_FEATURES = ("input_ids", "attention_mask", "labels")
VSL_FEATURES = (*LM_FEATURES, "attention_span", "position_ids")
DPO_FEATURES = tuple(f"{side}_{name}" for side in ("chosen", "rejected") for name in LM_FEATURES)
FEATURES_BY_CHANNELS = {len(names): names for names in (LM_FEATURES, VSL_FEATURES, DPO_FEATURES)}

CHUNK_VALUES = 3 << 10
CHUNKS_AT_ONCE = 64
COMPRESSION_LEVEL = 1
BLOCK_BYTES = 1 << 23
MAX_CHUNK_BYTES = 1 << 28
RESERVED = ("n_examples", "features", "content_digest", "recipe")
_READ_FAULTS: Final = (OSError, RuntimeError, cast(type[Exception], isal_zlib.IsalError))
FILTERS = [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE]


@dataclass(frozen=True)
class WriteSummary:
    """The content of a written file: rows, shape of the dataset, digest of rows and attributes (32 hex digits)."""

    rows: int
    shape: tuple[int, int, int]
    content_digest: str


def write_hdf5(
    target: BinaryIO,
    blocks: Iterable[NDArray[np.int32]],
    attributes: Mapping[str, Attribute],
    *,
    features: Sequence[str],
    sequence_length: int,
    rows_per_chunk: int | None = None,
    recipe: str = "",
) -> WriteSummary:
    """Writes blocks (rows, len(features), sequence_length) one after another as dataset `data`.

    `target` is a seekable binary file open for reading and writing; it is flushed and stays open. Memory holds
    one block and one chunk; by default a chunk has as many rows as fit in 12 KiB, at least one. Without blocks the
    dataset has 0 rows. The file gets `attributes`, the row count `n_examples`, `features`, the `content_digest`, and
    the `recipe`, which the digest does not cover. Equal input gives equal bytes (with one version of the libraries),
    for any cut into blocks.

    Raises ValueError for a block of another shape or dtype and for an attribute with a reserved name.
    """
    if reserved := set(RESERVED) & set(attributes):
        raise ValueError(f"attributes {sorted(reserved)} are set by the writer")
    row_shape = (len(features), sequence_length)
    digest = _start_digest(attributes, features)
    with h5py.File(target, "w", track_order=False) as file:
        data = file.create_dataset(
            "data",
            shape=(0, *row_shape),
            maxshape=(None, *row_shape),
            chunks=(rows_per_chunk or max(1, CHUNK_VALUES // math.prod(row_shape)), *row_shape),
            dtype="<i4",
            shuffle=True,
            compression="gzip",
            compression_opts=COMPRESSION_LEVEL,
            track_times=False,
        )
        chunks = _ChunkWriter(data)
        for block in blocks:
            if block.shape[1:] != row_shape or block.dtype != np.int32:
                raise ValueError(f"received a block {block.dtype} {block.shape}; valid: int32 (rows, {row_shape})")
            values = np.ascontiguousarray(block).reshape(-1)
            digest.update(values.data)
            chunks.add(values)
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
    target.flush()
    return WriteSummary(rows, (rows, *row_shape), content_digest)


def _start_digest(attributes: Mapping[str, Attribute], features: Sequence[str]) -> xxhash.xxh3_128:
    """Returns an xxh3-128 of the attributes as canonical JSON; the rows follow as little-endian int32."""
    header = json.dumps({**attributes, "features": list(features)}, sort_keys=True).encode()
    return xxhash.xxh3_128(len(header).to_bytes(8, "little") + header)


class _ChunkWriter:
    """Fills one chunk at a time, as the shuffle filter lays it out, and writes it without HDF5's own, slow deflate."""

    def __init__(self, data: h5py.Dataset) -> None:
        rows, *row_shape = data.chunks
        self._data = data.id
        self._row_shape = tuple(row_shape)
        self._row_size = math.prod(row_shape)
        self._planes = np.zeros((4, rows * self._row_size), np.uint8)
        self._filled = 0
        self._rows = 0  # in the chunks written
        self._extent = 0  # rows that the dataset has room for

    def add(self, values: NDArray[np.int32]) -> None:
        """Adds whole rows, as flat values."""
        from resources.formats.kernels.planes import split_planes

        room = self._planes.shape[1]
        while values.size:
            fitting, values = values[: room - self._filled], values[room - self._filled :]
            split_planes(fitting, self._planes, self._filled)
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
        first = self._rows
        self._rows += self._filled // self._row_size
        self._filled = 0
        if self._rows > self._extent:  # HDF5 takes as long to make room for one chunk as for many.
            self._extent = first + CHUNKS_AT_ONCE * (self._planes.shape[1] // self._row_size)
            self._data.set_extent((self._extent, *self._row_shape))
        self._data.write_direct_chunk((first, 0, 0), isal_zlib.compress(self._planes.data, COMPRESSION_LEVEL))


class HDF5Rows:
    """Lazy reader of one file; a context manager. `read_hdf5` makes it.

    `rows[a:b]` are rows a to b - 1 as int32 (b - a, channels, positions); only the chunks with them are decompressed.
    n: rows. features: channel names. sequence_length: positions per row. attributes: file attributes.
    """

    def __init__(self, source: BinaryIO, file: h5py.File, data: h5py.Dataset, name: str) -> None:
        self._source = source
        self._file = file
        self._data = data
        self._name = name
        self.attributes: dict[str, Any] = {key: _plain(value) for key, value in file.attrs.items()}
        self.n, channels, self.sequence_length = data.shape
        self._per_chunk = data.chunks[0] if data.chunks else 1
        self._is_direct = _is_direct(data)
        self._places: dict[int, tuple[int, int]] = {}
        # The last chunk read, by its first row, so that small ranges in order decompress it once.
        self._chunk: tuple[int, NDArray[np.uint8]] | None = None
        self.features = self._features(channels, name)

    def _features(self, channels: int, name: str) -> tuple[str, ...]:
        names = self.attributes.get("features", FEATURES_BY_CHANNELS.get(channels, ()))
        if not isinstance(names, list | tuple) or len(names) != channels:
            raise BadFileError(name, f"{channels} channels, but features are {names!r}")
        return tuple(str(feature) for feature in names)

    def blocks(self, rows: int | None = None) -> Iterator[NDArray[np.int32]]:
        """Yields all rows in order, as int32 blocks of up to `rows` rows (default: whole chunks, about 8 MB).

        Raises BadFileError when stored bytes are damaged.
        """
        row_bytes = 4 * len(self.features) * self.sequence_length
        step = rows or max(1, BLOCK_BYTES // (row_bytes * self._per_chunk)) * self._per_chunk
        if self._is_direct and not self._file.userblock_size:
            self._places = _places(self._data)
        return (self[first : first + step] for first in range(0, self.n, step))

    def __getitem__(self, rows: slice) -> NDArray[np.int32]:
        first, last, step = rows.indices(self.n)
        if step != 1:
            raise ValueError(f"received rows[{rows}]; valid: consecutive rows")
        try:
            if self._is_direct:
                return self._direct_rows(first, max(first, last))
            found: NDArray[np.int32] = self._data[first:last]
        except _READ_FAULTS as error:
            raise BadFileError(self._name, f"rows from {first} cannot be read: {error}") from error
        return found

    def _direct_rows(self, first: int, last: int) -> NDArray[np.int32]:
        """Returns rows from chunks that this class decompresses itself, three times as fast as HDF5."""
        from resources.formats.kernels.planes import join_planes

        _, *row_shape = self._data.shape
        row_size = math.prod(row_shape)
        values = np.empty((last - first) * row_size, np.int32)
        for start in range(first - first % self._per_chunk, last, self._per_chunk):
            begin, end = max(first, start), min(last, start + self._per_chunk)
            chunk_values = values[(begin - first) * row_size : (end - first) * row_size]
            join_planes(self._planes(start, row_size), (begin - start) * row_size, chunk_values)
        return values.reshape(-1, *row_shape)

    def _planes(self, start: int, row_size: int) -> NDArray[np.uint8]:
        """Returns the chunk whose first row is `start`, as the shuffle filter lays it out: (4, values)."""
        if self._chunk and self._chunk[0] == start:
            return self._chunk[1]
        size = 4 * self._per_chunk * row_size
        skipped, stored = self._stored(start)
        # At most one chunk is decompressed, even if the stored bytes hold more.
        inflater = isal_zlib.decompressobj()
        content = inflater.decompress(stored, size + 1)
        if skipped or len(content) != size or not inflater.eof:
            raise OSError(f"chunk of {len(stored)} bytes does not hold {size} bytes behind shuffle and deflate")
        planes = np.frombuffer(content, np.uint8).reshape(4, -1)
        self._chunk = start, planes
        return planes

    def _stored(self, start: int) -> tuple[int, bytes]:
        """Returns the filters that a chunk skips, as a bit mask, and its bytes."""
        place = self._places.get(start)
        if place is None:
            skipped, stored = self._data.id.read_direct_chunk((start, 0, 0))
            return int(skipped), stored
        offset, size = place
        self._source.seek(offset)
        return 0, self._source.read(size)

    def digest(self) -> str:
        """Returns the `content_digest` computed again from the rows and attributes; the stored value is not read."""
        given = {name: value for name, value in self.attributes.items() if name not in RESERVED}
        digest = _start_digest(given, self.features)
        for block in self.blocks():
            digest.update(block.data)
        return digest.hexdigest()

    def close(self) -> None:
        """Closes the HDF5 file; the file object it was read from stays open."""
        self._file.close()

    def __enter__(self) -> "HDF5Rows":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_hdf5(source: BinaryIO, name: str = "HDF5 file") -> HDF5Rows:
    """Opens a token file of this project or of Cerebras; rows are read only when asked for.

    `source` is a seekable binary file, `name` its name in errors. Links that lead out of the file are not followed.
    Raises BadFileError if it is not an HDF5 file, if `data` is not a plain int32 dataset of rank 3, or if
    `n_examples` is not its row count.
    """
    try:
        file = h5py.File(source, "r")
    except OSError as error:
        raise BadFileError(name, f"not an HDF5 file: {error}") from error
    try:
        return HDF5Rows(source, file, _checked_data(file, name), name)
    except BaseException:
        file.close()
        raise


def _checked_data(file: h5py.File, name: str) -> h5py.Dataset:
    if not isinstance(file.get("data", getlink=True), h5py.HardLink):
        raise BadFileError(name, "has no dataset `data` of its own")
    data = file["data"]
    if not isinstance(data, h5py.Dataset) or data.is_virtual or data.external:
        raise BadFileError(name, "`data` is not a dataset stored in the file")
    if data.ndim != 3 or data.dtype != np.dtype("<i4") or not all(data.shape[1:]):
        raise BadFileError(name, f"`data` is {data.dtype} {data.shape}; valid: int32 (rows, channels, positions)")
    if data.chunks and int(np.prod(data.chunks, dtype=np.int64)) * 4 > MAX_CHUNK_BYTES:
        raise BadFileError(name, f"`data` has chunks {data.chunks}; valid: at most {MAX_CHUNK_BYTES} bytes")
    if (rows := _plain(file.attrs.get("n_examples"))) != data.shape[0]:
        raise BadFileError(name, f"attribute n_examples is {rows}, `data` has {data.shape[0]} rows")
    return data


def _is_direct(data: h5py.Dataset) -> bool:
    """Returns whether chunks hold whole rows behind the filters of `write_hdf5`, and all of them are stored."""
    plist = data.id.get_create_plist()
    filters = [plist.get_filter(index) for index in range(plist.get_nfilters())]
    if (
        [code for code, *_ in filters] != FILTERS
        or filters[0][2] != (data.dtype.itemsize,)
        or data.chunks[1:] != data.shape[1:]
    ):
        return False
    return bool(data.id.get_num_chunks() == -(-data.shape[0] // data.chunks[0]))


def _places(data: h5py.Dataset) -> dict[int, tuple[int, int]]:
    """Returns offset and size of the chunks of a file by their first rows: three times as fast as to ask for each.

    A chunk that skips a filter, or is stored with more bytes than deflate ever needs, is left out.
    """
    places: dict[int, tuple[int, int]] = {}
    most = 2 * int(np.prod(data.chunks, dtype=np.int64)) * data.dtype.itemsize

    def found(chunk: h5py.h5d.StoreInfo) -> None:
        if not chunk.filter_mask and chunk.size <= most and chunk.byte_offset is not None:
            places[chunk.chunk_offset[0]] = chunk.byte_offset, chunk.size

    data.id.chunk_iter(found)
    return places


def _plain(value: Any) -> Any:
    """Returns an attribute as a plain Python value."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _digest(open_file: Open, path: str) -> str:
    with open_file(path) as raw, read_hdf5(raw, path) as rows:
        return rows.digest()


def _preview(open_file: Open, path: str, rows: int) -> Iterator[str]:
    with open_file(path) as raw, read_hdf5(raw, path) as tokens:
        yield str(tokens.attributes)
        yield from map(str, tokens[:rows])


HDF5 = FileFormat(".h5", _digest, _preview)
