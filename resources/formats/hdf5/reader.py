"""Reads token rows from HDF5 files of this project or of Cerebras' Model Zoo, lazily (`hdf5_layout`)."""

import math
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, BinaryIO, Final, cast

import h5py
import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from resources.errors import BadFileError, CorpusError, is_of_the_machine
from resources.formats.file_format import FileFormat, Open
from resources.formats.hdf5.chunks import deflated_row, inflated
from resources.formats.hdf5.layout import FEATURES_BY_CHANNELS, FILTERS, RESERVED, start_digest
from resources.kernels.jit import is_loaded

BLOCK_BYTES = 1 << 23
MAX_CHUNK_BYTES = 1 << 28
KERNEL_PAYS = 1 << 30
NO_PLACE = (0, 0)
_FRAME_BYTES = 1 << 10
Watch = Callable[[Iterator[NDArray[np.int32]]], Iterator[NDArray[np.int32]]]
_READ_FAULTS: Final = (OSError, RuntimeError, OverflowError, cast(type[Exception], isal_zlib.IsalError))


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
        self._buffer = np.empty(_most_stored(data) if self._is_direct else 0, np.uint8)
        self._places: dict[int, tuple[int, int]] = {}  # offset and size of chunks by their first rows
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
            if is_of_the_machine(error):
                raise
            _require_memory(self._data)
            raise BadFileError(self._name, f"rows from {first} cannot be read: {error}") from error
        return found

    def _direct_rows(self, first: int, last: int) -> NDArray[np.int32]:
        """Returns rows from chunks that this class decompresses itself, three times as fast as HDF5."""
        join_planes = self._joiner()
        _, *row_shape = self._data.shape
        row_size = math.prod(row_shape)
        values = np.empty((last - first) * row_size, np.int32)
        starts = range(first - first % self._per_chunk, last, self._per_chunk)
        run = self._run(starts)
        for start in starts:
            begin, end = max(first, start), min(last, start + self._per_chunk)
            chunk_values = values[(begin - first) * row_size : (end - first) * row_size]
            join_planes(self._planes(start, row_size, run), (begin - start) * row_size, chunk_values)
        return values.reshape(-1, *row_shape)

    def _joiner(self) -> Callable[[NDArray[np.uint8], int, NDArray[np.int32]], None]:
        """Returns what joins planes to values; the kernel is six times as fast, but takes a second to load."""
        if not is_loaded() and 4 * math.prod(self._data.shape) < KERNEL_PAYS:
            return _join_planes
        from resources.formats.kernels.planes import join_planes

        return join_planes

    def _planes(self, start: int, row_size: int, run: Mapping[int, memoryview]) -> NDArray[np.uint8]:
        """Returns the chunk whose first row is `start`, as the shuffle filter lays it out: (4, values)."""
        if self._chunk and self._chunk[0] == start:
            return self._chunk[1]
        planes = inflated(run[start] if start in run else self._stored(start), self._per_chunk * row_size)
        self._chunk = start, planes
        return planes

    def _stored(self, start: int) -> bytes:
        """Returns the stored bytes of the chunk whose first row is `start`."""
        try:  # Into a buffer of our own: HDF5 takes as much memory as a damaged file says.
            skipped, stored = self._data.id.read_direct_chunk((start, 0, 0), out=self._buffer)
        except ValueError as error:
            raise OSError(f"chunk is larger than deflate makes it: {error}") from error
        if skipped:
            raise OSError(f"chunk of {len(stored)} bytes skips a filter")
        return bytes(stored)

    def row_chunks(self, first: int, last: int) -> list[bytes]:
        """Returns rows first to last - 1 as `write_hdf5` stores them in chunks of one row.

        Rows in chunks of another kind are deflated again. Raises `BadFileError` if stored bytes are damaged.
        """
        if not self._is_direct or self._per_chunk > 1:
            return [deflated_row(row) for row in self[first:last]]
        try:
            return [self._stored(row) for row in range(first, last)]
        except _READ_FAULTS as error:
            if is_of_the_machine(error):
                raise
            raise BadFileError(self._name, f"rows from {first} cannot be read: {error}") from error

    def _run(self, starts: range) -> dict[int, memoryview]:
        """Returns the stored bytes of chunks that lie close together, by their first rows, from one read of the file.

        Empty if the places of chunks are not known, or if it would be only one chunk.
        """
        places = [self._places.get(start, NO_PLACE) for start in starts] if self._places else []
        size = sum(size for _, size in places)
        if len(places) < 2 or NO_PLACE in places:
            return {}
        begin = min(offset for offset, _ in places)
        length = max(offset + size for offset, size in places) - begin
        if length > 2 * size:
            return {}
        self._source.seek(begin)
        content = memoryview(self._source.read(length))
        return {start: content[at - begin :][:size] for start, (at, size) in zip(starts, places, strict=True)}

    def digest(self, watch: Watch = iter) -> str:
        """Returns the `content_digest` computed again from the rows and attributes; the stored value is not read.

        watch: gets the blocks and passes them on, for callers that need more than the digest.
        """
        given = {name: value for name, value in self.attributes.items() if name not in RESERVED}
        digest = start_digest(given, self.features)
        for block in watch(self.blocks()):
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


def _require_memory(data: h5py.Dataset) -> None:
    """Raises `MemoryError` if there is none for a chunk, stored and inflated: HDF5 calls that a fault of a filter."""
    bytearray(2 * math.prod(data.chunks or ()) * data.dtype.itemsize)


def _join_planes(planes: NDArray[np.uint8], first: int, values: NDArray[np.int32]) -> None:
    """Does without numba what the kernel `join_planes` does."""
    places = values.view(np.uint8).reshape(-1, 4)
    for place, plane in enumerate(planes):
        places[:, place] = plane[first : first + len(values)]


def read_hdf5(source: BinaryIO, name: str = "HDF5 file") -> HDF5Rows:
    """Opens a token file of this project or of Cerebras; rows are read only when asked for.

    `source` is a seekable binary file, `name` its name in errors. Links that lead out of the file are not followed.
    Raises BadFileError if it is not an HDF5 file or a damaged one, if `data` is not a plain int32 dataset of rank 3, or
    if `n_examples` is not its row count.
    """
    try:
        file = h5py.File(source, "r")
    except (OSError, OverflowError) as error:  # OverflowError for an address that no file can have.
        if is_of_the_machine(error):
            raise
        raise BadFileError(name, f"not an HDF5 file: {error}") from error
    try:
        return HDF5Rows(source, file, _checked_data(file, name), name)
    except BaseException as error:
        file.close()
        if not isinstance(error, Exception) or isinstance(error, CorpusError) or is_of_the_machine(error):
            raise
        # h5py raises almost anything over a damaged file.
        raise BadFileError(name, f"cannot be read as HDF5: {type(error).__name__}: {error}") from error


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
    most = _most_stored(data)

    def found(chunk: h5py.h5d.StoreInfo) -> None:
        if not chunk.filter_mask and chunk.size <= most and chunk.byte_offset is not None:
            places[chunk.chunk_offset[0]] = chunk.byte_offset, chunk.size

    data.id.chunk_iter(found)
    return places


def _most_stored(data: h5py.Dataset) -> int:
    """Returns more bytes than a chunk ever has behind deflate, which makes one of a few values larger than it was."""
    return _FRAME_BYTES + int(2 * math.prod(data.chunks) * data.dtype.itemsize)


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


HDF5 = FileFormat(".h5", _digest, _preview, by_address=True)
