"""IO managers: they give an asset that takes one of ours as an argument lazy handles on its partitions."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import dagster as dg
import h5py
import msgspec
from numpy.typing import NDArray
from typing_extensions import override

from resources.errors import ConfigError, LedgerError
from resources.formats.attributes import AttributeRow
from resources.formats.documents import Document
from resources.ledger.ledger import Ledger, partition_name
from resources.stage.declaration import Partitioning
from resources.stage.graph import Graph
from resources.stage.partition import Partition
from resources.storage.interface import Storage

_DEFINITIONS = {
    Partitioning.SHARD: "shards()",
    Partitioning.BAND: "static(BANDS)",
    Partitioning.RANGE: "static(RANGES)",
    Partitioning.CHUNK: "static(CHUNKS)",
}


class PartitionIOManager(dg.IOManager):
    """Hands out committed partitions. Commits happen in the workers, partition by partition, with their records.

    graph: the assets whose partitions these are.
    """

    def __init__(self, storage: Storage, ledger: Ledger, graph: Graph) -> None:
        self._storage = storage
        self._ledger = ledger
        self._graph = graph

    @override
    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        """Does nothing for an asset of the graph: every partition of its step is committed and has its own record.

        `ConfigError` for what any other asset or op gives: it would be lost.
        """
        name = "/".join(context.asset_key.path) if context.has_asset_key else f"{context.step_key}.{context.name}"
        if obj is not None and name not in self._graph.stages:
            raise ConfigError(
                f"{name}: received {type(obj).__name__}, which {type(self).__name__} does not store: it hands out what "
                "assets of the corpus have committed; give this asset an io_manager_key of your own, or return nothing"
            )

    @override
    def load_input(self, context: dg.InputContext) -> Any:
        """Returns one lazy handle if the input is the partition being made or has no partitions, else one per key.

        Raises LedgerError for a partition that was not built.
        """
        asset = "/".join(context.asset_key.path)
        if not context.has_asset_partitions:
            return self.wrap(self._partition(asset, None))
        handles = {key: self.wrap(self._partition(asset, key)) for key in context.asset_partition_keys}
        own = context.partition_key if context.has_partition_key else None
        return handles[own] if own is not None and list(handles) == [own] else handles

    def _partition(self, asset: str, key: str | None) -> Partition:
        record = self._ledger.read(asset, key)
        if record is None:
            raise LedgerError(self._missing(asset, key))
        return Partition(self._storage, record)

    def _missing(self, asset: str, key: str | None) -> str:
        """Returns in words why there is no such partition, and what to do."""
        stage = self._graph.stages.get(asset)
        if stage is None:
            return f"{asset} is no asset of this corpus; these are: {', '.join(self._graph.stages)}"
        unit = stage.partitioning.value
        if key is None and stage.partitioning is not Partitioning.NONE:
            declared = f"partitions_def=partitions.definitions.{_DEFINITIONS[stage.partitioning]}"
            return f"{asset} has a partition for each {unit}, and was asked for as one; declare it with {declared}"
        if key is not None and stage.partitioning is Partitioning.NONE:
            return f"{asset} has no partitions, and was asked for {key!r}; declare it without partitions_def"
        return f"{partition_name(asset, key)} does not exist; build it first: corpus build --select +{asset}"

    @abstractmethod
    def wrap(self, partition: Partition) -> Any:
        """Returns the handle for one partition."""


class LazyRows:
    """Rows of one partition, read when iterated, as often as wanted: documents, attribute rows, or plain objects."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __len__(self) -> int:
        stored = ".jsonl.gz" if self.partition.has(".jsonl.gz") else ".jsonl.zst"
        return self.partition.file(stored).rows or 0

    def __iter__(self) -> Iterator[Any]:
        decoder: msgspec.json.Decoder[Any] | None = None
        for line in self.lines():
            decoder = decoder or _decoder(line)
            yield decoder.decode(line)

    def lines(self) -> Iterator[bytes]:
        """Yields the JSON lines as they are stored; for a scattered shard, one chunk after the other."""
        if self.partition.has(".jsonl.gz"):
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
    """The `.npy` files of one partition, memory-mapped when asked for."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __call__(self, suffix: str | None = None) -> NDArray[Any]:
        """Returns the array whose file name ends like this; by default the first that the partition has."""
        arrays = (file.path for file in self.partition.record.files if file.path.endswith(".npy"))
        return self.partition.array(next(arrays, ".npy") if suffix is None else suffix)


class TokenRows:
    """The HDF5 files of one partition: mostly one, none without rows, several if packing carries over files."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def __len__(self) -> int:
        return sum(file.rows or 0 for file in self.partition.record.files if file.path.endswith(".h5"))

    def open(self, suffix: str = ".h5") -> h5py.File:
        """Opens the only file, or that whose name ends so; use it in a `with` block. LedgerError if there is none."""
        if not self.partition.has(".h5"):
            raise LedgerError(f"{self.partition.name} has no rows, and so no file")
        return h5py.File(self.partition.open(suffix), "r")


class DocumentsIOManager(PartitionIOManager):
    """Documents, attributes and other rows in `jsonl.gz`."""

    @override
    def wrap(self, partition: Partition) -> LazyRows:
        return LazyRows(partition)


class ArraysIOManager(PartitionIOManager):
    """`.npy` arrays."""

    @override
    def wrap(self, partition: Partition) -> Arrays:
        return Arrays(partition)


class RecordsIOManager(PartitionIOManager):
    """Small JSON tables, and assets that have only a record."""

    @override
    def wrap(self, partition: Partition) -> Partition:
        return partition


class HDF5IOManager(PartitionIOManager):
    """HDF5 token shards."""

    @override
    def wrap(self, partition: Partition) -> TokenRows:
        return TokenRows(partition)


def io_managers(storage: Storage, ledger: Ledger, graph: Graph) -> dict[str, PartitionIOManager]:
    """Returns one IO manager per value of `Stage.io`."""
    return {
        "documents": DocumentsIOManager(storage, ledger, graph),
        "arrays": ArraysIOManager(storage, ledger, graph),
        "records": RecordsIOManager(storage, ledger, graph),
        "hdf5": HDF5IOManager(storage, ledger, graph),
    }
