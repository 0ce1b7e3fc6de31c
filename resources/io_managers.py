"""IO managers: what another asset gets when it takes one of ours as an argument. Everything is lazy."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import h5py
import msgspec
from numpy.typing import NDArray

from resources.attributes import AttributeRow
from resources.documents import Document
from resources.errors import LedgerError
from resources.ledger import Ledger
from resources.storage import LocalStorage
from resources.task import Part


class PartIOManager(dg.ConfigurableIOManager):
    """Hands out committed partitions. Commits happen in the workers, partition by partition, with their records."""

    root: str

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Nothing is left to write: every partition of the step is committed and has its own record."""

    def load_input(self, context: dg.InputContext) -> Any:
        """A lazy handle when the input is the partition being made (or has none), else one per key.

        Raises LedgerError for a partition that was not built.
        """
        asset = "/".join(context.asset_key.path)
        if not context.has_asset_partitions:
            return self.wrap(self._part(asset, None))
        handles = {key: self.wrap(self._part(asset, key)) for key in context.asset_partition_keys}
        own = context.partition_key if context.has_partition_key else None
        return handles[own] if own is not None and list(handles) == [own] else handles

    def _part(self, asset: str, partition: str | None) -> Part:
        storage = LocalStorage(Path(self.root))
        record = Ledger(storage).read(asset, partition)
        if record is None:
            name = asset if partition is None else f"{asset}/{partition}"
            raise LedgerError(f"{name} does not exist; build it first: corpus build --select +{asset}")
        return Part(storage, record)

    @abstractmethod
    def wrap(self, part: Part) -> Any:
        """The handle for one partition."""


class Rows:
    """Rows of one partition, read when iterated, as often as wanted: documents, attribute rows, or plain objects."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __len__(self) -> int:
        return int(self.part.record.statistics["rows_out"])

    def __iter__(self) -> Iterator[Any]:
        decoder: msgspec.json.Decoder[Any] | None = None
        for line in self.lines():
            decoder = decoder or _decoder(line)
            yield decoder.decode(line)

    def lines(self) -> Iterator[bytes]:
        """The JSON lines as they are stored; of a scattered shard those of one chunk after the other."""
        if any(file.path.endswith(".jsonl.gz") for file in self.part.record.files):
            yield from self.part.lines()
            return
        for segment in self.part.segments().values():
            yield from self.part.segment_lines(segment)


class _Shape(msgspec.Struct):
    text: msgspec.Raw = msgspec.Raw()
    attributes: msgspec.Raw = msgspec.Raw()


def _decoder(first: bytes) -> msgspec.json.Decoder[Any]:
    """All rows of a file are of one type, which the first one shows."""
    shape = msgspec.json.decode(first, type=_Shape)
    if bytes(shape.text):
        return msgspec.json.Decoder(Document)
    return msgspec.json.Decoder(AttributeRow if bytes(shape.attributes) else dict[str, Any])


class Arrays:
    """The `.npy` files of one partition, memory-mapped when asked for."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __call__(self, suffix: str | None = None) -> NDArray[Any]:
        """The array whose file name ends like this; by default the first that the partition has."""
        arrays = (file.path for file in self.part.record.files if file.path.endswith(".npy"))
        return self.part.array(next(arrays, ".npy") if suffix is None else suffix)


class TokenRows:
    """The HDF5 file of one partition."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def open(self) -> h5py.File:
        """The open file; use it in a `with` block."""
        return h5py.File(self.part.open(".h5"), "r")


class DocumentsIOManager(PartIOManager):
    """Documents, attributes and other rows in `jsonl.gz`."""

    def wrap(self, part: Part) -> Rows:
        """See `PartIOManager.wrap`."""
        return Rows(part)


class ArraysIOManager(PartIOManager):
    """`.npy` arrays."""

    def wrap(self, part: Part) -> Arrays:
        """See `PartIOManager.wrap`."""
        return Arrays(part)


class RecordsIOManager(PartIOManager):
    """Small JSON tables, and assets whose record is all there is."""

    def wrap(self, part: Part) -> Part:
        """See `PartIOManager.wrap`."""
        return part


class HDF5IOManager(PartIOManager):
    """HDF5 token shards."""

    def wrap(self, part: Part) -> TokenRows:
        """See `PartIOManager.wrap`."""
        return TokenRows(part)


def io_managers(root: str) -> dict[str, PartIOManager]:
    """One IO manager per kind of stage."""
    return {
        "documents": DocumentsIOManager(root=root),
        "arrays": ArraysIOManager(root=root),
        "records": RecordsIOManager(root=root),
        "hdf5": HDF5IOManager(root=root),
    }
