"""What a stage's function is given: its inputs, its parameters, and a place to write."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from resources.codecs import open_gzip
from resources.documents import Document, decode_document
from resources.errors import ConfigError, LedgerError
from resources.graph import Reads, Stage
from resources.hashing import content_digest
from resources.ledger import FileRecord, Record
from resources.segments import Segment, SegmentWriter, segment_lines
from resources.sources import Shard
from resources.storage import Pending, Storage
from resources.writers import ArrayWriter, BytesWriter, DocumentWriter, LineWriter, Writer

MAX_EXAMPLES = 10
W = TypeVar("W", bound=Writer)


class Part:
    """One upstream partition, read lazily: nothing is opened before it is asked for."""

    def __init__(self, storage: Storage, record: Record, shard: Shard | None = None) -> None:
        self._storage = storage
        self.record = record
        self.shard = shard

    @property
    def partition(self) -> str | None:
        """Key of the partition."""
        return self.record.partition

    def file(self, suffix: str) -> FileRecord:
        """The partition's only file with a suffix."""
        found = [file for file in self.record.files if file.path.endswith(suffix)]
        if len(found) != 1:
            held = ", ".join(file.path for file in self.record.files) or "no file"
            raise LedgerError(f"{self.record.asset}/{self.partition} has {held}; one *{suffix} was expected")
        return found[0]

    def open(self, suffix: str) -> BinaryIO:
        """The stored bytes of a file."""
        return self._storage.open(self.file(suffix).path)

    def lines(self, suffix: str = ".jsonl.gz") -> Iterator[bytes]:
        """Lines of a gzip file, newline included."""
        with self.open(suffix) as raw, open_gzip(raw) as lines:
            yield from lines

    def documents(self) -> Iterator[Document]:
        """Documents in row order."""
        return map(decode_document, self.lines())

    def array(self, suffix: str) -> NDArray[Any]:
        """A `.npy` file, memory-mapped read-only."""
        path = self._storage.fetch(self.file(suffix).path)
        return cast(NDArray[Any], np.load(path, mmap_mode="r", allow_pickle=False))

    def json(self, suffix: str = ".json") -> Any:
        """A small JSON file."""
        with self.open(suffix) as file:
            return msgspec.json.decode(file.read())

    def segments(self, suffix: str = ".index.json") -> dict[str, Segment]:
        """The index of a segmented file."""
        with self.open(suffix) as file:
            return msgspec.json.decode(file.read(), type=dict[str, Segment])

    def segment_lines(self, segment: Segment, suffix: str = ".jsonl.zst") -> Iterator[bytes]:
        """Lines of one segment."""
        with self.open(suffix) as file:
            yield from segment_lines(file, segment)


class Task:
    """One partition being computed. Everything written becomes visible together, after the function returns.

    `places` tells where things outside the store lie, and how to work: what has no influence on the content. `memory`
    is in bytes. `recipe` is the digest of what the partition is made from; not complete for an asset that observes.
    """

    def __init__(
        self,
        stage: Stage,
        partition: str | None,
        *,
        shards: tuple[Shard, ...],
        parameters: Mapping[str, Any],
        places: Mapping[str, str],
        inputs: Mapping[str, list[Part]],
        storage: Storage,
        memory: int,
        recipe: str = "",
    ) -> None:
        self.stage = stage
        self.partition = partition
        self.shards = shards
        self.parameters = parameters
        self.places = places
        self.memory = memory
        self.recipe = recipe
        self.files: list[FileRecord] = []
        self.segments: dict[str, str] = {}
        self.statistics: dict[str, Any] = {}
        self._inputs = inputs
        self._storage = storage
        self.pending: Pending = storage.begin()

    def restart(self) -> None:
        """Forget everything written and counted so far."""
        self.pending.discard()
        self.pending = self._storage.begin()
        self.files.clear()
        self.segments.clear()
        self.statistics.clear()

    @property
    def key(self) -> str:
        """The partition key of a partitioned stage."""
        assert self.partition is not None, f"{self.stage.name} has no partitions"
        return self.partition

    @property
    def shard(self) -> Shard:
        """The raw file of a shard partition."""
        return next(shard for shard in self.shards if shard.key == self.partition)

    def __getitem__(self, key: str) -> Any:
        """A parameter the stage declared, by its dotted key."""
        if key not in self.parameters:
            declared = ", ".join(self.parameters) or "none"
            raise ConfigError(f"{self.stage.name} reads {key!r} but does not list it in `parameters` ({declared})")
        return self.parameters[key]

    def input(self, asset: str) -> Part:
        """The one upstream partition that this partition reads."""
        (part,) = self._inputs[asset]
        return part

    def inputs(self, asset: str) -> list[Part]:
        """All upstream partitions of an asset, in canonical order."""
        edge = next(edge for edge in self.stage.inputs if edge.asset == asset)
        assert edge.mapping is not Reads.SAME, f"{asset} is read one partition at a time"
        return self._inputs[asset]

    @contextmanager
    def documents(self, path: str) -> Iterator[DocumentWriter]:
        """Write documents to a `jsonl.gz` file."""
        with self._written(path, DocumentWriter(self.pending.create(path))) as writer:
            yield writer

    @contextmanager
    def lines(self, path: str) -> Iterator[LineWriter]:
        """Write ready lines to a `jsonl.gz` file."""
        with self._written(path, LineWriter(self.pending.create(path))) as writer:
            yield writer

    @contextmanager
    def array(self, path: str, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> Iterator[ArrayWriter]:
        """Write rows of a fixed shape to a `.npy` file, block by block."""
        with self._written(path, ArrayWriter(self.pending.create(path), dtype, shape)) as writer:
            yield writer

    @contextmanager
    def segmented(self, path: str, names: list[str]) -> Iterator[SegmentWriter]:
        """Scatter lines over named segments of one `.jsonl.zst` file; its index lies beside it."""
        writer = SegmentWriter(self.pending.create(path), self.pending.scratch(), names)
        with self._written(path, writer):
            yield writer
        self.save_json(path.removesuffix(".jsonl.zst") + ".index.json", writer.index, rows=len(names))

    @contextmanager
    def _written(self, path: str, writer: W) -> Iterator[W]:
        yield writer
        written = writer.finish()
        self.add_file(path, written.digest, written.rows)

    def save_array(self, path: str, array: NDArray[Any]) -> None:
        """Write a whole array."""
        with self.array(path, array.dtype, array.shape[1:]) as writer:
            writer.append(array)

    def save_json(self, path: str, value: Any, rows: int) -> None:
        """Write a small JSON file, keys in the order given."""
        self.save_bytes(path, msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n", rows)

    def save_bytes(self, path: str, content: bytes, rows: int = 1) -> None:
        """Write a small file in one piece."""
        with self._written(path, BytesWriter(self.pending.create(path), content, rows)):
            pass

    def scratch(self) -> BinaryIO:
        """A file for passing use; nobody else sees it."""
        return self.pending.scratch()

    def create(self, path: str) -> BinaryIO:
        """A file in a format of the stage's own; follow with `add_file`."""
        return self.pending.create(path)

    def add_file(self, path: str, digest: str, rows: int) -> None:
        """Say what a file holds; its size is taken when it is published."""
        self.files.append(FileRecord(path, 0, digest, rows))

    def count(self, **numbers: Any) -> None:
        """Numbers about this partition, shown in the web UI and kept in the record."""
        self.statistics |= numbers

    def drop(self, reason: str, rows: int = 1, example: str | None = None) -> None:
        """Count rows that go no further. Every dropped row is counted, by reason; the first examples are kept."""
        dropped = self.statistics.setdefault("dropped", {})
        dropped[reason] = dropped.get(reason, 0) + rows
        if example is not None:
            examples = self.statistics.setdefault("dropped_examples", [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(example)

    def content_digest(self) -> str:
        """Digest of the whole partition: its files in order, and its segments."""
        parts = [f"{file.digest} {file.rows}" for file in self.files]
        parts += [f"{name}={digest}" for name, digest in sorted(self.segments.items())]
        return content_digest(*(part.encode() for part in parts))
