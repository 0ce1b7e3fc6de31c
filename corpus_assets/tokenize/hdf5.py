"""Token rows in HDF5: one dataset `data` (rows, channels, L) int32, written as a stream and read lazily.

Layout after specs/cerebras-hdf5.md sections 1 and 16, so the original's readers open the files; the additions
are the named attributes and chunks of several rows, which compress better and six times as fast.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, BinaryIO

import h5py
import numpy as np
import xxhash
from isal import isal_zlib
from numpy.typing import NDArray

from resources.errors import BadFileError

Attribute = str | int | float | list[str] | tuple[str, ...]

LM_FEATURES = ("input_ids", "attention_mask", "labels")
VSL_FEATURES = (*LM_FEATURES, "attention_span", "position_ids")
DPO_FEATURES = tuple(f"{side}_{name}" for side in ("chosen", "rejected") for name in LM_FEATURES)
FEATURES_BY_CHANNELS = {len(names): names for names in (LM_FEATURES, VSL_FEATURES, DPO_FEATURES)}

ROWS_PER_CHUNK = 16
COMPRESSION_LEVEL = 1
BLOCK_BYTES = 1 << 24
MAX_CHUNK_BYTES = 1 << 28
RESERVED = ("n_examples", "features", "content_digest")


@dataclass(frozen=True)
class WriteSummary:
    """What was written: rows, shape of the dataset, digest of rows and attributes (32 hex digits)."""

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
    rows_per_chunk: int = ROWS_PER_CHUNK,
) -> WriteSummary:
    """Write blocks (rows, len(features), sequence_length) one after another as dataset `data`.

    `target` is a seekable binary file open for reading and writing; it is flushed and stays open. Memory is
    one block and one chunk. No blocks give a dataset of 0 rows. The file gets `attributes`, the row count
    `n_examples`, `features`, and the `content_digest`; equal input gives equal bytes (on one version of the
    libraries).

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
            chunks=(rows_per_chunk, *row_shape),
            dtype="<i4",
            shuffle=True,
            compression="gzip",
            compression_opts=COMPRESSION_LEVEL,
            track_times=False,
        )
        rows = 0
        for chunk in _chunks(blocks, row_shape, rows_per_chunk):
            digest.update(chunk.data)
            data.resize(rows + len(chunk), axis=0)
            data.id.write_direct_chunk((rows, 0, 0), _compressed(chunk, rows_per_chunk))
            rows += len(chunk)
        content_digest = digest.hexdigest()
        own: dict[str, Any] = {
            "n_examples": rows,
            "features": list(features),
            "content_digest": content_digest,
        }
        for name, value in sorted({**attributes, **own}.items()):
            file.attrs[name] = value
    target.flush()
    return WriteSummary(rows, (rows, *row_shape), content_digest)


def _start_digest(attributes: Mapping[str, Attribute], features: Sequence[str]) -> xxhash.xxh3_128:
    """xxh3-128 over the attributes as canonical JSON; the rows follow as little-endian int32."""
    header = json.dumps({**attributes, "features": list(features)}, sort_keys=True).encode()
    return xxhash.xxh3_128(len(header).to_bytes(8, "little") + header)


def _chunks(
    blocks: Iterable[NDArray[np.int32]], row_shape: tuple[int, int], rows_per_chunk: int
) -> Iterator[NDArray[np.int32]]:
    """The same rows in contiguous arrays of exactly `rows_per_chunk` rows, the last one shorter."""
    rest = np.empty((0, *row_shape), "<i4")
    for block in blocks:
        if block.shape[1:] != row_shape or block.dtype != np.int32:
            raise ValueError(f"received a block {block.dtype} {block.shape}; valid: int32 (rows, {row_shape})")
        joined = np.concatenate([rest, block]) if len(rest) else np.ascontiguousarray(block, "<i4")
        full = len(joined) - len(joined) % rows_per_chunk
        for first in range(0, full, rows_per_chunk):
            yield joined[first : first + rows_per_chunk]
        rest = joined[full:].copy()
    if len(rest):
        yield rest


def _compressed(chunk: NDArray[np.int32], rows_per_chunk: int) -> bytes:
    """The chunk as HDF5 stores it: padded to full size, byte shuffle filter, deflate."""
    missing = rows_per_chunk - len(chunk)
    if missing:
        chunk = np.concatenate([chunk, np.zeros((missing, *chunk.shape[1:]), "<i4")])
    shuffled = np.ascontiguousarray(chunk.view(np.uint8).reshape(-1, chunk.itemsize).T)
    return bytes(isal_zlib.compress(shuffled.data, COMPRESSION_LEVEL))


class HDF5Rows:
    """Lazy reader of one file; a context manager. Made by `read_hdf5`.

    n: rows. features: channel names. sequence_length: positions per row. attributes: file attributes.
    """

    def __init__(self, file: h5py.File, data: h5py.Dataset, name: str) -> None:
        self._file = file
        self._data = data
        self._name = name
        self.attributes: dict[str, Any] = {key: _plain(value) for key, value in file.attrs.items()}
        self.n, channels, self.sequence_length = data.shape
        self.features = self._features(channels, name)

    def _features(self, channels: int, name: str) -> tuple[str, ...]:
        names = self.attributes.get("features", FEATURES_BY_CHANNELS.get(channels, ()))
        if not isinstance(names, list | tuple) or len(names) != channels:
            raise BadFileError(name, f"{channels} channels, but features are {names!r}")
        return tuple(str(feature) for feature in names)

    def blocks(self, rows: int | None = None) -> Iterator[NDArray[np.int32]]:
        """All rows in order, as int32 blocks of up to `rows` rows (default: whole chunks, about 16 MB).

        Raises BadFileError when stored bytes are damaged.
        """
        _, channels, length = self._data.shape
        per_chunk = self._data.chunks[0] if self._data.chunks else 1
        step = rows or max(1, BLOCK_BYTES // (4 * channels * length * per_chunk)) * per_chunk
        for first in range(0, self.n, step):
            try:
                block = self._data[first : first + step]
            except OSError as error:
                raise BadFileError(self._name, f"rows from {first} cannot be read: {error}") from error
            yield block

    def digest(self) -> str:
        """`content_digest` computed again from what the file holds; the file's own value is not read."""
        given = {name: value for name, value in self.attributes.items() if name not in RESERVED}
        digest = _start_digest(given, self.features)
        for block in self.blocks():
            digest.update(np.ascontiguousarray(block, "<i4").data)
        return digest.hexdigest()

    def close(self) -> None:
        """Close the HDF5 file; the file object it was read from stays open."""
        self._file.close()

    def __enter__(self) -> "HDF5Rows":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_hdf5(source: BinaryIO, name: str = "HDF5 file") -> HDF5Rows:
    """Open a token file of this project or of the original; rows are read only when asked for.

    `source` is a seekable binary file, `name` its name in errors. Nothing outside the file is followed.
    Raises BadFileError when it is no HDF5 file, when `data` is not a plain int32 dataset of rank 3, or when
    `n_examples` is not its row count.
    """
    try:
        file = h5py.File(source, "r")
    except OSError as error:
        raise BadFileError(name, f"not an HDF5 file: {error}") from error
    try:
        return HDF5Rows(file, _checked_data(file, name), name)
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


def _plain(value: Any) -> Any:
    """An attribute as a plain Python value."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
