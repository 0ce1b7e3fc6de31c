"""The task that a stage's function gets: its inputs, its parameters, and a place to write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, TypeVar

import msgspec
from numpy.typing import DTypeLike, NDArray

from resources.errors import ConfigError, LedgerError, StorageError
from resources.formats.arrays import ArrayWriter
from resources.formats.attributes import FLAG_TABLE, FLAGS, AttributeWriter
from resources.formats.jsonl.compressions import GZIP, JSONL, compression_of, stored_as
from resources.formats.jsonl.lines import DocumentWriter, LineWriter
from resources.formats.jsonl.members import table_path
from resources.formats.segments import SegmentWriter, index_path
from resources.formats.writers import BinaryWriter, Writer, Written
from resources.hashing import content_digest, value_digest
from resources.ledger.ledger import FileRecord, partition_digest
from resources.shards.listing import Shard
from resources.shards.reading import RAW_SOURCE_INPUTS, RawReading
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.storage.interface import Storage, Unpublished

MAX_EXAMPLES = 10
DROPPED_ROWS = "dropped_rows"
"""Statistic: rows that were dropped for each reason, in words, with a piece of their text."""
SHOWN_ROWS = 2
_PIECE = 80
W = TypeVar("W", bound=Writer)


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


def dropped_row(place: str, identifier: str, text: str | None, why: str = "") -> str:
    """Returns a dropped row for a person: its place, its id, the reason, and the beginning of its text.

    text: None for a row without text, or whose text must not be kept.
    """
    piece = "" if text is None else f": {beginning(text)}"
    return f"{place}, id {identifier[:_PIECE]!r}{f': {why}' if why else ''}{piece}"


def beginning(text: str) -> str:
    """Returns how a text begins, for a person."""
    return f"{text[:_PIECE]!r}{'...' if len(text) > _PIECE else ''}"


def json_content(value: Any) -> bytes:
    """Returns the content of a small JSON file, with keys in the given order."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


class Task:
    """One partition being computed. Everything written becomes visible together, after the function returns."""

    def __init__(self, given: Given) -> None:
        self._given = given
        self.shards = given.shards
        self.parameters = given.parameters
        self.local_files = given.local_files
        self.run_options = given.run_options
        self.memory = given.memory
        self.recipe = given.recipe
        self.files: list[FileRecord] = []
        self.segments: dict[str, str] = {}
        self.counters: dict[str, Any] = {}
        self.statistics: dict[str, Any] = {}
        self.seen: dict[str, Any] = {}
        self._beside: dict[str, RawReading] = {}

    @cached_property
    def _unpublished(self) -> Unpublished:
        """The files of this task; begun with the first, so that a task that only reads needs no store to write to."""
        return self._given.storage.begin()

    def restart(self) -> None:
        """Forgets everything written and counted so far."""
        self.discard()
        for held in (self.files, self.segments, self.counters, self.statistics, self.seen):
            held.clear()

    def prepare(self) -> None:
        """Makes all files durable, so that publishing them is unlikely to fail."""
        self._unpublished.prepare()

    @property
    def replaces(self) -> bool:
        """Whether `publish` replaces files that an older record may name."""
        return self._unpublished.replaces

    def replaced(self) -> list[str]:
        """Returns the paths of new, prepared files that will replace files of any partition."""
        return [file.path for file in self.files if self._is_replaced(file.path)]

    def _is_replaced(self, path: str) -> bool:
        known = self._unpublished.replaced(path)
        return self._given.storage.stat(self._unpublished.stored(path)) is not None if known is None else known

    def publish(self) -> None:
        """Makes all files visible."""
        self._unpublished.publish()

    def stored(self, file: FileRecord) -> FileRecord:
        """Returns the record of a file with path, size and digest of what is stored, once it is published.

        `LedgerError` if the store does not have it.
        """
        path, size = self._unpublished.stored(file.path), self._unpublished.size(file.path)
        if size is None:
            entry = self._given.storage.stat(path)
            if entry is None:
                raise LedgerError(f"{path} vanished while it was being committed")
            size = entry.bytes
        return msgspec.structs.replace(file, path=path, bytes=size, stored=self._unpublished.digest(file.path))

    def discard(self) -> None:
        """Removes everything that was not published."""
        if "_unpublished" in self.__dict__:
            self._unpublished.discard()
            del self._unpublished

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

    def rows_path(self, path: str) -> str:
        """Returns where rows are stored: a path that ends in `.jsonl` gets the suffix of the store's compression.

        One that has a suffix of its own (`.jsonl.gz`) keeps it, and is compressed as it says.
        """
        return stored_as(path, self._given.compression)

    @contextmanager
    def documents(self, path: str) -> Iterator[DocumentWriter]:
        """Writes documents to a file of rows, and beside it the table of its members. path: see `rows_path`."""
        path = self.rows_path(path)
        with self._written(path, DocumentWriter(self.create(path), compression_of(path))) as writer:
            yield writer
        self.save_array(table_path(path), writer.table(), derived=True)

    @contextmanager
    def lines(self, path: str, *, indexed: bool = False, derived: bool = False) -> Iterator[LineWriter]:
        """Writes encoded lines to a file of rows. indexed: write the table of its members beside it.

        path: see `rows_path`. derived: see `FileRecord`.
        """
        path = self.rows_path(path)
        with self._written(path, LineWriter(self.create(path), compression_of(path)), derived=derived) as writer:
            yield writer
        if indexed:
            self.save_array(table_path(path), writer.table(), derived=True)

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

    @contextmanager
    def array(
        self, path: str, dtype: DTypeLike, shape: tuple[int, ...] = (), *, derived: bool = False
    ) -> Iterator[ArrayWriter]:
        """Writes rows of a fixed shape to a `.npy` file, block by block. derived: see `FileRecord`."""
        with self._written(path, ArrayWriter(self.create(path), dtype, shape), derived=derived) as writer:
            yield writer

    @contextmanager
    def binary(self, path: str, *, derived: bool = False) -> Iterator[BinaryWriter]:
        """Writes bytes in a format of the stage's own. derived: see `FileRecord`."""
        with self._written(path, BinaryWriter(self.create(path)), derived=derived) as writer:
            yield writer

    @contextmanager
    def segmented(self, path: str, names: list[str]) -> Iterator[SegmentWriter]:
        """Scatters lines over named segments of one `.jsonl.zst` file; its index is stored next to it."""
        with self._written(path, SegmentWriter(self.create(path), self.scratch(), names)) as writer:
            yield writer
        self.save_json(index_path(path), writer.index, rows=len(names))

    @contextmanager
    def _written(self, path: str, writer: W, *, derived: bool = False) -> Iterator[W]:
        yield writer
        written = writer.finish()
        self.add_file(path, written.digest, written.rows, derived=derived)

    def save_array(self, path: str, array: NDArray[Any], *, derived: bool = False) -> Written:
        """Writes a whole array. derived: see `FileRecord`."""
        with self.array(path, array.dtype, array.shape[1:], derived=derived) as writer:
            writer.append(array)
        return writer.written

    def save_json(self, path: str, value: Any, rows: int, *, derived: bool = False) -> Written:
        """Writes a small JSON file, with its keys in the given order. derived: see `FileRecord`."""
        return self.save_bytes(path, json_content(value), rows, derived=derived)

    def save_bytes(self, path: str, content: bytes, rows: int = 1, *, derived: bool = False) -> Written:
        """Writes a small file. derived: see `FileRecord`."""
        with self.binary(path, derived=derived) as writer:
            writer.write(content, rows)
        return writer.written

    def copy(self, partition: Partition, suffix: str, path: str) -> None:
        """Writes a file of another partition as it is stored. Its record must have a digest of its stored bytes."""
        copied, file = partition.file(suffix), self.create(path)
        for block in partition.stored_blocks(suffix):
            file.write(block)
        self.add_file(path, copied.digest, copied.rows or 0, derived=copied.derived)

    def scratch(self) -> BinaryIO:
        """Opens a temporary file that no other process sees."""
        return self._unpublished.scratch()

    def create(self, path: str) -> BinaryIO:
        """Opens a file in a format of the stage's own; follow with `add_file`."""
        return self._unpublished.create(path)

    def add_file(self, path: str, digest: str, rows: int, *, derived: bool = False) -> None:
        """Records the content of a file; its size is taken when it is published."""
        self.files.append(FileRecord(path, 0, digest, rows, derived))

    def count(self, **numbers: Any) -> None:
        """Records numbers about this partition for people: the web UI shows them, no stage reads them."""
        self.statistics |= numbers

    def save_counters(self, name: str, value: Mapping[str, Any]) -> None:
        """Records counters that another stage or a gate reads. They are content: a segment of that name."""
        self.counters[name] = value
        self.segments[name] = value_digest(value)

    def drop(self, reason: str, rows: int = 1, example: str | None = None, shown: str | None = None) -> None:
        """Counts dropped rows by reason, and keeps the first examples. A stage must count every row that it drops.

        example: the row in words; the first of all reasons are kept.
        shown: the row with a piece of its text, from `dropped_row`; the first of each reason are kept. `example` by
            default.
        """
        dropped = self.statistics.setdefault("dropped", {})
        dropped[reason] = dropped.get(reason, 0) + rows
        if example is not None:
            examples = self.statistics.setdefault("dropped_examples", [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(example)
        if (said := shown or example) is not None:
            of_reason = self.statistics.setdefault(DROPPED_ROWS, {}).setdefault(reason, [])
            if len(of_reason) < SHOWN_ROWS:
                of_reason.append(said)

    def shows(self, reason: str) -> bool:
        """Returns whether one more row dropped for a reason would be shown."""
        return len(self.statistics.get(DROPPED_ROWS, {}).get(reason, ())) < SHOWN_ROWS

    def drop_by_source(self, reason: str, rows: Mapping[str, int]) -> None:
        """Counts dropped rows by reason and source, for stages whose partitions hold rows of several sources."""
        self.drop(reason, sum(rows.values()))
        self.statistics.setdefault("dropped_by_source", {})[reason] = dict(rows)

    def dropped(self) -> dict[str, int]:
        """Returns how many rows were dropped so far, by reason."""
        return dict(self.statistics.get("dropped", {}))

    def content_digest(self) -> str:
        """Returns the digest of the whole partition: its files in order, and its segments."""
        return partition_digest(self.files, self.segments)
