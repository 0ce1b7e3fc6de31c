"""IO managers: what another asset gets when it takes one of ours as an argument. Everything is lazy."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import h5py
from numpy.typing import NDArray

from resources.documents import Document
from resources.errors import LedgerError
from resources.ledger import Ledger
from resources.storage import LocalStorage
from resources.task import Part


class PartIOManager(dg.ConfigurableIOManager):
    """Hands out committed partitions. Commits happen in the workers, partition by partition, with their records."""

    root: str

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Note what the step produced; every partition is already committed and has its own record."""
        records = obj.records().values()
        context.add_output_metadata({"partitions": len(records), "computed": len(obj.outcomes)})

    def load_input(self, context: dg.InputContext) -> Any:
        """One lazy handle, or for several partitions one per key."""
        asset = "/".join(context.asset_key.path)
        if not context.has_asset_partitions:
            return self.wrap(self._part(asset, None))
        handles = {key: self.wrap(self._part(asset, key)) for key in context.asset_partition_keys}
        return next(iter(handles.values())) if len(handles) == 1 else handles

    def _part(self, asset: str, partition: str | None) -> Part:
        storage = LocalStorage(Path(self.root))
        record = Ledger(storage).read(asset, partition)
        if record is None:
            raise LedgerError(f"{asset}/{partition} does not exist; build it first: corpus build --select {asset}")
        return Part(storage, record)

    @abstractmethod
    def wrap(self, part: Part) -> Any:
        """The handle for one partition."""


class Documents:
    """Documents or attribute rows of one partition, read when iterated, as often as wanted."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __len__(self) -> int:
        return int(self.part.record.statistics["rows_out"])

    def __iter__(self) -> Iterator[Document]:
        return self.part.documents()

    def lines(self) -> Iterator[bytes]:
        """The raw JSON lines."""
        return self.part.lines()


class Arrays:
    """The `.npy` files of one partition, memory-mapped when asked for."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def __call__(self, suffix: str = ".npy") -> NDArray[Any]:
        """The array whose file name ends like this."""
        return self.part.array(suffix)


class TokenRows:
    """The HDF5 file of one partition."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def open(self) -> h5py.File:
        """The open file; use it in a `with` block."""
        return h5py.File(self.part.open(".h5"), "r")


class DocumentsIOManager(PartIOManager):
    """`jsonl.gz` documents and attributes."""

    def wrap(self, part: Part) -> Documents:
        """See `PartIOManager.wrap`."""
        return Documents(part)


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
