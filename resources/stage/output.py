"""Where one partition is written: nothing of it is visible before all of it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, BinaryIO, TypeVar

import msgspec
from numpy.typing import DTypeLike, NDArray

from resources.errors import LedgerError
from resources.formats.arrays import ArrayWriter
from resources.formats.jsonl.compressions import compression_of, stored_as
from resources.formats.jsonl.lines import DocumentWriter, LineWriter
from resources.formats.jsonl.members import table_path
from resources.formats.segments import SegmentWriter, index_path
from resources.formats.writers import BinaryWriter, Writer, Written
from resources.ledger.ledger import FileRecord
from resources.stage.partition import Partition
from resources.storage.interface import Storage, Unpublished

W = TypeVar("W", bound=Writer)


def json_content(value: Any) -> bytes:
    """Returns the content of a small JSON file, with keys in the given order."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


class Output:
    """Files of one partition. They become visible together, when they are published."""

    def __init__(self, storage: Storage, compression: str) -> None:
        self._storage = storage
        self._compression = compression
        self.files: list[FileRecord] = []

    @cached_property
    def _unpublished(self) -> Unpublished:
        """The files of this task; begun with the first, so that a task that only reads needs no store to write to."""
        return self._storage.begin()

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
        return self._storage.stat(self._unpublished.stored(path)) is not None if known is None else known

    def publish(self) -> None:
        """Makes all files visible."""
        self._unpublished.publish()

    def stored(self, file: FileRecord) -> FileRecord:
        """Returns the record of a file with path, size and digest of what is stored, once it is published.

        `LedgerError` if the store does not have it.
        """
        path, size = self._unpublished.stored(file.path), self._unpublished.size(file.path)
        if size is None:
            entry = self._storage.stat(path)
            if entry is None:
                raise LedgerError(f"{path} vanished while it was being committed")
            size = entry.bytes
        return msgspec.structs.replace(file, path=path, bytes=size, stored=self._unpublished.digest(file.path))

    def discard(self) -> None:
        """Removes everything that was not published."""
        if "_unpublished" in self.__dict__:
            self._unpublished.discard()
            del self._unpublished

    def rows_path(self, path: str) -> str:
        """Returns where rows are stored: a path that ends in `.jsonl` gets the suffix of the store's compression.

        One that has a suffix of its own (`.jsonl.gz`) keeps it, and is compressed as it says.
        """
        return stored_as(path, self._compression)

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
