"""Lazy handles on one committed partition, which a user's own assets get for assets of the corpus."""

from collections.abc import Iterator
from typing import Any, Generic

import h5py
import msgspec
import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypeVar

from resources.errors import LedgerError
from resources.formats.attributes import AttributeRow
from resources.formats.documents import Document
from resources.formats.hdf5.reader import read_hdf5
from resources.formats.jsonl.compressions import JSONL
from resources.formats.segments import SEGMENTS
from resources.stage.partition import Partition

R = TypeVar("R", default=Any)


class LazyRows(Generic[R]):
    """Rows of one partition, read each time that it is iterated; memory holds one row. `len` reads no row.

    `LazyRows[Document]` and `LazyRows[AttributeRow]` tell a type checker what the rows are; the first row tells the
    program. Rows of other assets (`inventory`, examples) are `dict[str, Any]`.

    partition: the handle with the record, and all its files.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __class_getitem__(cls, row: Any) -> type["LazyRows[Any]"]:
        """Returns the class itself, since Dagster takes only classes as types of arguments."""
        return cls

    def __len__(self) -> int:
        stored = JSONL if self.partition.has(JSONL) else SEGMENTS
        return self.partition.file(stored).rows or 0

    def __iter__(self) -> Iterator[R]:
        decoder: msgspec.json.Decoder[Any] | None = None
        for line in self.lines():
            decoder = decoder or _decoder(line)
            yield decoder.decode(line)

    def lines(self) -> Iterator[bytes]:
        """Yields the rows as JSON lines, as they are stored; for a scattered shard, one chunk after the other.

        `DamagedFileError` at the end if the file is not what its record says, as when rows are iterated.
        """
        if self.partition.has(JSONL):
            yield from self.partition.lines()
            return
        for segment in self.partition.segments().values():
            yield from self.partition.segment_lines(segment)


class _Shape(msgspec.Struct):
    text: msgspec.Raw = msgspec.Raw()
    attributes: msgspec.Raw = msgspec.Raw()


def _decoder(first: bytes) -> msgspec.json.Decoder[Any]:
    """Returns the decoder for all rows of a file; the first row shows their type."""
    shape = msgspec.json.decode(first, type=_Shape)
    if bytes(shape.text):
        return msgspec.json.Decoder(Document)
    return msgspec.json.Decoder(AttributeRow if bytes(shape.attributes) else dict[str, Any])


class Arrays:
    """The `.npy` files of one partition, memory-mapped when asked for.

    partition: the handle with the record, and all its files.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __call__(self, suffix: str | None = None) -> NDArray[Any]:
        """Returns the array whose file name has this ending, read-only; by default the partition's first.

        Of arrays with a row per document the first axis is that of the documents, in their order: `minhashes()` is
        uint32 (documents, permutations). `LedgerError` if there is no such array.
        """
        arrays = (file.path for file in self.partition.record.files if file.path.endswith(".npy"))
        return self.partition.array(next(arrays, ".npy") if suffix is None else suffix)


class TokenRows:
    """The HDF5 files of one partition: mostly one, none without rows, several if packing carries over files.

    `len` is the number of rows in all of them, and opens none. partition: the handle with the record, and all its
    files.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __len__(self) -> int:
        return sum(file.rows or 0 for file in self.partition.record.files if file.path.endswith(".h5"))

    def rows(self, most: int | None = None) -> Iterator[NDArray[np.int32]]:
        """Yields all rows in order, in blocks of int32 (rows, channels, positions).

        Channels of `lm`: ids of the input, loss mask, ids to be predicted; of other modes: docs/datasets.md "Modes",
        and `attrs["features"]` of the opened file. A position holds one id.

        most: rows of a block; by default as many as fill about 8 MB. `DamagedFileError` before the first row of a file
        that is not what its record says.
        """
        for file in self.partition.record.files:
            if file.path.endswith(".h5"):
                with self.partition.open(file.path) as stored, read_hdf5(stored, file.path) as rows:
                    yield from rows.blocks(most)

    def open(self, suffix: str = ".h5") -> h5py.File:
        """Opens the only file, or the one with this ending; use it in a `with` block. LedgerError if there is none."""
        if not self.partition.has(".h5"):
            raise LedgerError(f"{self.partition.name} has no rows, and so no file")
        return h5py.File(self.partition.open(suffix), "r")
