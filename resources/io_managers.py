"""IO managers: they give an asset that takes one of ours as an argument lazy handles on its partitions."""

from abc import abstractmethod
from typing import Any

import dagster as dg
from typing_extensions import override

from resources.errors import ConfigError, LedgerError
from resources.ledger.ledger import Ledger, partition_name
from resources.stage.declaration import Partitioning
from resources.stage.graph import Graph
from resources.stage.handles import Arrays, LazyRows, TokenRows
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

        `ConfigError` for the output of any other asset or op, which would be lost.
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


class DocumentsIOManager(PartitionIOManager):
    """Documents, attributes and other rows: JSON lines in the compression of the store."""

    @override
    def wrap(self, partition: Partition) -> LazyRows[Any]:
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
