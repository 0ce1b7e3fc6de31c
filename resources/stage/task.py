"""The task that a stage's function gets: its inputs, its parameters, and a place to write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from resources.errors import ConfigError, LedgerError, StorageError
from resources.formats.attributes import FLAG_TABLE, FLAGS, AttributeWriter
from resources.formats.jsonl.compressions import GZIP, JSONL
from resources.hashing import content_digest
from resources.ledger.ledger import partition_digest
from resources.shards.listing import Shard
from resources.shards.reading import RAW_SOURCE_INPUTS, RawReading
from resources.stage.counts import Counts
from resources.stage.output import Output
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.storage.interface import Storage


@dataclass(frozen=True)
class Given:
    """All that a task is made from.

    shards: the raw files it may look at.
    parameters: values by dotted key.
    local_files: contents of small files that the configuration names.
    run_options: options that do not change the content.
    inputs: partitions by asset.
    memory: bytes it may use.
    recipe: digest of what the partition is made from; not complete if the stage looks outside.
    compression: of rows, by its name in `COMPRESSIONS`.
    """

    asset: str
    key: str | None
    storage: Storage
    inputs: Mapping[str, Partitions]
    shards: tuple[Shard, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    local_files: Mapping[str, bytes] = field(default_factory=dict)
    run_options: Mapping[str, Any] = field(default_factory=dict)
    memory: int = 1 << 30
    recipe: str = ""
    compression: str = GZIP.name


class Task(Output, Counts):
    """One partition being computed. Everything written becomes visible together, after the function returns."""

    def __init__(self, given: Given) -> None:
        Output.__init__(self, given.storage, given.compression)
        Counts.__init__(self)
        self._given = given
        self.shards = given.shards
        self.parameters = given.parameters
        self.local_files = given.local_files
        self.run_options = given.run_options
        self.memory = given.memory
        self.recipe = given.recipe
        self.seen: dict[str, Any] = {}
        self._beside: dict[str, RawReading] = {}

    def restart(self) -> None:
        """Forgets everything written and counted so far."""
        self.discard()
        for held in (self.files, self.segments, self.counters, self.statistics, self.seen):
            held.clear()

    def close(self) -> None:
        """Closes what readers left open, and removes everything that was not published."""
        for reading in self._readings():
            reading.close()
        self.discard()

    def _readings(self) -> Iterator[RawReading]:
        """Yields what was opened outside of the store."""
        yield from [self.raw] if "raw" in self.__dict__ else ()
        yield from self._beside.values()

    @property
    def key(self) -> str:
        """The partition key of a partitioned stage."""
        assert self._given.key is not None, f"{self._given.asset} has no partitions"
        return self._given.key

    @property
    def shard(self) -> Shard:
        """The raw file of a shard partition."""
        return next(shard for shard in self.shards if shard.key == self._given.key)

    @cached_property
    def raw(self) -> RawReading:
        """The raw file of a shard partition, opened so that a faulty reading is noticed.

        After the stage's function, the bytes that it read are compared with the record of the raw file.
        """
        of_shard = (found[0].record for found in self._given.inputs.values() if len(found) == 1)
        recorded = (one for one in of_shard if one.partition == self.key and one.inputs.keys() == RAW_SOURCE_INPUTS)
        return RawReading(self.shard, next(recorded, None))

    def beside(self, asset: str, name: str) -> RawReading:
        """Opens the file of a set that lies beside the raw file, as `raw` does. asset: the stage that digests the set.

        A task that reads raw files too declares `raw_source` before that stage.
        """
        if asset not in self._beside:
            shard = self.shard.file_beside(name)
            if shard is None:
                raise ConfigError(f"{self.shard.label} has no file of {name!r} beside it")
            self._beside[asset] = RawReading(shard, self.input(asset).record)
        return self._beside[asset]

    def require_read_right(self) -> None:
        """Raises an error if bytes read from outside are not the recorded ones; see `RawReading`."""
        for reading in self._readings():
            reading.require_right()

    def __getitem__(self, key: str) -> Any:
        """Returns a parameter that the stage declared, by its dotted key."""
        if key not in self.parameters:
            declared = ", ".join(self.parameters) or "none"
            raise ConfigError(f"{self._given.asset} reads {key!r} but does not list it in `parameters` ({declared})")
        return self.parameters[key]

    def input(self, asset: str) -> Partition:
        """Returns the one upstream partition that this partition reads."""
        partitions = self.inputs(asset)
        assert len(partitions) == 1, f"{asset} is read in {len(partitions)} partitions"
        return partitions[0]

    def reads(self, asset: str) -> bool:
        """Returns whether the stage declares an asset as input; some inputs depend on the configuration."""
        return asset in self._given.inputs

    def inputs(self, asset: str) -> Partitions:
        """Returns all upstream partitions of an asset, in canonical order."""
        if asset not in self._given.inputs:
            declared = ", ".join(self._given.inputs) or "none"
            raise ConfigError(f"{self._given.asset} reads {asset!r} but does not list it in `inputs` ({declared})")
        return self._given.inputs[asset]

    def noted(self, path: str, limit: int) -> bytes | None:
        """Returns a file of the store that no record names, for derived files alone: it is no content, and no input.

        None if there is none, if it cannot be read, or if it is longer than `limit` bytes.
        """
        storage = self._given.storage
        try:
            stat = storage.stat(path)
            if stat is None or stat.bytes > limit:
                return None
            with storage.open(path) as file:
                return file.read()
        except (OSError, StorageError):
            return None

    @contextmanager
    def attributes(self, name: str, flag_table: str | None = FLAG_TABLE) -> Iterator[AttributeWriter]:
        """Writes an attribute of the shard's documents: one row for each, in their order.

        flag_table: suffix of the table of flags, which is only written if rows say whether they are flagged; None for
        no table, only the digest of the flags. `LedgerError` if there are not as many rows as documents.
        """
        path = f"attributes/{name}/{self.shard.source}/{self.shard.name}"
        with self.lines(f"{path}{JSONL}") as lines:
            writer = AttributeWriter(lines)
            yield writer
        self._require_aligned(name, writer.rows)
        if writer.has_flags:
            flags = writer.flags()
            if flag_table is not None:
                self.save_array(f"{path}{flag_table}", flags)
            self.segments[FLAGS] = content_digest(flags.tobytes())

    def _require_aligned(self, name: str, rows: int) -> None:
        for partitions in self._given.inputs.values():
            for partition in partitions:
                if partition.key == self._given.key and partition.has(JSONL):
                    documents = partition.file(JSONL).rows
                    if documents != rows:
                        raise LedgerError(f"attribute {name}: {rows} rows for {documents} rows of {partition.name}")

    def content_digest(self) -> str:
        """Returns the digest of the whole partition: its files in order, and its segments."""
        return partition_digest(self.files, self.segments)
