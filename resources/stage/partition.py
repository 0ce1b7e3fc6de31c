"""The handle by which stages, checks and commands read one committed partition."""

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import msgspec
import numpy as np
from numpy.typing import DTypeLike, NDArray

from resources.errors import LedgerError, is_of_the_machine
from resources.formats.arrays import HEADER_BYTES, chosen_rows, read_rows, whole
from resources.formats.attributes import FLAG_TABLES, flags_of
from resources.formats.documents import Document, decode_document
from resources.formats.jsonl.compressions import JSONL, endings, open_rows
from resources.formats.jsonl.long_lines import all_lines
from resources.formats.jsonl.members import TABLE, Member, table_path
from resources.formats.segments import INDEX, SEGMENTS, Segment, index_path, segment_lines
from resources.formats.texts import Texts, document_texts, whole_lines
from resources.ledger.ledger import FileRecord, Record, partition_name
from resources.shards.listing import Shard
from resources.stage.soundness import SMALL, CheckedFiles
from resources.storage.fetched import fetched
from resources.storage.interface import Storage

if TYPE_CHECKING:
    from resources.formats.hdf5.reader import HDF5Rows

T = TypeVar("T")
_SEGMENT_BYTES = 1 << 22
_MEMBERS_BYTES = 1 << 22
"""Most bytes of adjacent members that are read at once, since each read may be a request."""


def files_with(record: Record, suffix: str) -> list[FileRecord]:
    """Returns the files of a partition with a suffix; one that ends in `JSONL` stands for rows in any compression.

    Rows that are cut into segments are none of them: they have the same suffixes, and an index.
    """
    if suffix.endswith(JSONL):
        paths = {file.path for file in record.files}
        rows = (file for file in record.files if file.path.endswith(endings(suffix)))
        if found := [file for file in rows if index_path(file.path) not in paths]:
            return found
    return [file for file in record.files if file.path.endswith(suffix)]


def _mapped(path: str) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _neighbours(members: list[int], places: NDArray[np.int64]) -> Iterator[list[int]]:
    """Yields the members, whose numbers ascend, in runs without a gap of one member or at most `_MEMBERS_BYTES`.

    places: where each begins, shape (members + 1,).
    """
    run: list[int] = []
    for number in members:
        if run and (number != run[-1] + 1 or places[number + 1] - places[run[0]] > _MEMBERS_BYTES):
            yield run
            run = []
        run.append(number)
    if run:
        yield run


class Partition:
    """A handle on one committed partition. It opens a file only when asked for its content, and checks what it reads.

    Reading raises `DamagedFileError` if a file does not match the record.

    record: its commit record.
    shard: the raw file of a shard partition, if the reader was given it.
    compared: False to read files without comparing them with the record.
    """

    # Of thousands of handles, most are only asked for their record.
    __slots__ = ("_by_suffix", "_checked", "_compared", "_storage", "record", "shard")

    def __init__(self, storage: Storage, record: Record, shard: Shard | None = None, *, compared: bool = True) -> None:
        self._storage = storage
        self.record = record
        self.shard = shard
        self._compared = compared
        self._checked: CheckedFiles | None = None
        self._by_suffix: dict[str, FileRecord] | None = None

    @property
    def _files(self) -> CheckedFiles:
        if self._checked is None:
            self._checked = CheckedFiles(self._storage, self.record, compared=self._compared)
        return self._checked

    @property
    def key(self) -> str | None:
        """Partition key; None if the asset has no partitions."""
        return self.record.partition

    @property
    def name(self) -> str:
        """The partition as messages name it: asset/key."""
        return partition_name(self.record.asset, self.key)

    def has(self, suffix: str) -> bool:
        """Returns whether the partition has a file with a suffix; one in `JSONL` stands for any compression."""
        return bool(files_with(self.record, suffix))

    def file(self, suffix: str) -> FileRecord:
        """Returns the record of the only file with a suffix; `LedgerError` if there is none, or more than one.

        One that ends in `JSONL` stands for rows in any compression. Derived files do not count if there are others.
        """
        if self._by_suffix is None:
            self._by_suffix = {}
        elif known := self._by_suffix.get(suffix):
            return known
        found = files_with(self.record, suffix)
        if len(found) > 1:
            found = [file for file in found if not file.derived] or found
        if len(found) != 1:
            held = ", ".join(file.path for file in self.record.files) or "no file"
            raise LedgerError(f"{self.name} has {held}; one *{suffix} was expected")
        return self._by_suffix.setdefault(suffix, found[0])

    def counters(self, name: str) -> Any:
        """Returns the counters that the partition was committed with under a name (`Task.save_counters`)."""
        return self.record.counters_of(name)

    def open(self, suffix: str) -> BinaryIO:
        """Opens a file as it is stored, once it is checked."""
        file = self.file(suffix)
        self._files.require_sound(file)
        return self._files.open(file)

    def token_rows(self, first: int, end: int, suffix: str = ".h5") -> NDArray[np.int32]:
        """Returns rows of an HDF5 file (`HDF5Rows`), once it is checked."""
        return self._read_hdf5(suffix, lambda rows: rows[first:end])

    def token_row_chunks(self, first: int, end: int, suffix: str = ".h5") -> NDArray[np.object_]:
        """Returns rows of an HDF5 file as it stores them (`HDF5Rows.row_chunks`), bytes (n,), once it is checked."""
        chunks = self._read_hdf5(suffix, lambda rows: rows.row_chunks(first, end))
        held = np.empty(len(chunks), np.object_)
        held[:] = chunks
        return held

    def _read_hdf5(self, suffix: str, read: "Callable[[HDF5Rows], T]") -> T:
        from resources.formats.hdf5.reader import read_hdf5

        file = self.file(suffix)
        with self.open(suffix) as stored:
            try:
                with read_hdf5(stored, file.path) as rows:
                    return read(rows)
            except Exception as error:  # h5py raises almost anything over a damaged file
                if is_of_the_machine(error):
                    raise
                raise self._files.unreadable(file, error) from None

    def lines(self, suffix: str = JSONL) -> Iterator[bytes]:
        """Yields the lines of a file of rows, newline included; they are checked at their end."""
        file = self.file(suffix)
        with self._files.open(file) as raw, open_rows(raw, file.path) as lines:
            yield from self._files.lines(file, all_lines(lines))

    def members(self, chosen: NDArray[np.bool_], suffix: str = JSONL) -> Iterator[tuple[Member, NDArray[np.bool_]]]:
        """Yields the members of a file of rows that hold a chosen row, each with which of its rows are chosen.

        Reads no other part of the file; each member is checked. The partition must have a table of members.
        """
        file = self.file(suffix)
        table = self.array(table_path(file.path))
        places = np.concatenate([[0], np.cumsum(table["stored"], dtype=np.int64)])
        rows = np.concatenate([[0], np.cumsum(table["rows"], dtype=np.int64)])
        # Members without a chosen row are never read; those side by side are one read, which may be a request.
        holding = np.searchsorted(rows, np.flatnonzero(chosen), side="right") - 1
        for run in _neighbours(np.unique(holding[holding < len(table)]).tolist(), places):
            start = int(places[run[0]])
            content = memoryview(self._files.read(file, start, int(places[run[-1] + 1]) - start))
            for number in run:
                stored = bytes(content[int(places[number]) - start : int(places[number + 1]) - start])
                yield self._files.member(file, stored, table[number]), chosen[rows[number] : rows[number + 1]]

    def chosen_lines(self, chosen: NDArray[np.bool_]) -> Iterator[bytes]:
        """Yields the chosen lines of the file of rows; reads only their members if it has a table of members."""
        if not self.has(TABLE):
            yield from compress(self.lines(), chosen.tolist())
            return
        for member, picked in self.members(chosen):
            yield from compress(member.lines(), picked.tolist())

    def stored_blocks(self, suffix: str) -> Iterator[bytes]:
        """Yields a file as it is stored, block by block; it is checked at its end.

        Its record must have a digest of its stored bytes.
        """
        return self._files.blocks(self.file(suffix))

    def texts(self) -> Iterator[Texts]:
        """Yields the texts of documents in row order, in blocks of whole rows."""
        file = self.file(JSONL)
        with self._files.open(file) as raw, open_rows(raw, file.path) as lines:
            yield from map(document_texts, self._files.lines(file, whole_lines(lines)))

    def documents(self) -> Iterator[Document]:
        """Yields documents in row order."""
        return map(decode_document, self.lines())

    def flags(self) -> Iterator[bool]:
        """Yields for each row of an attribute partition whether the document is flagged."""
        for suffix in FLAG_TABLES:
            if self.has(suffix):
                return iter(self.array(suffix).tolist())
        return flags_of(self.lines())

    def array(self, suffix: str) -> NDArray[Any]:
        """Returns a `.npy` file, read-only, once it is checked; a large one is mapped into memory."""
        file = self.file(suffix)
        if file.bytes <= SMALL:
            return whole(self._files.content(file), file.path)
        self._files.require_sound(file)
        return cast(NDArray[Any], fetched(self._storage, file.path, _mapped))

    def array_rows(self, suffix: str, start: int, stop: int) -> NDArray[Any]:
        """Returns rows `start` to `stop` of a `.npy` file as a new array.

        The whole file is checked at the first use in a process; later ones read no other part of it.
        """
        file = self.file(suffix)
        if file.bytes <= SMALL:
            return chosen_rows(whole(self._files.content(file), file.path), file.path, start, stop).copy()
        self._files.require_sound(file)
        return read_rows(lambda offset, size: self._files.read(file, offset, size), file.path, start, stop)

    def segment_blocks(
        self, suffix: str, segment: str, row: DTypeLike, start: int, stop: int, *, before: Sequence[bytes] = ()
    ) -> Iterator[NDArray[Any]]:
        """Yields rows `start` to `stop` of a `.npy` file in blocks.

        The rows are the named segment, or follow `before` in it.

        Reads no other part of a large file; at the end the rows are checked against the digest of the segment. row:
        type of one row.
        """
        file, size = self.file(suffix), np.dtype(row).itemsize
        block = max(_SEGMENT_BYTES // size, 1) * size
        for content in self._files.segment_bytes(
            file, segment, HEADER_BYTES + start * size, (stop - start) * size, block, before=before
        ):
            yield np.frombuffer(content, row)

    def content(self, suffix: str, *, keep: bool = True) -> bytes:
        """Returns the whole of a file as it is stored, once it is checked.

        keep: False if the process need not keep a small file, because the reader keeps what it needs.
        """
        return self._files.content(self.file(suffix), keep=keep)

    def unchecked(self, suffix: str) -> bytes | None:
        """Returns a small file as it is stored, for readers that check each piece; None if it is not small."""
        file = self.file(suffix)
        return self._files.unchecked(file) if file.bytes <= SMALL else None

    def json(self, suffix: str = ".json") -> Any:
        """Returns the value of a small JSON file."""
        return msgspec.json.decode(self.content(suffix))

    def segments(self, suffix: str = INDEX) -> dict[str, Segment]:
        """Returns the index of a segmented file."""
        return msgspec.json.decode(self._files.content(self.file(suffix)), type=dict[str, Segment])

    def segment_lines(self, segment: Segment, suffix: str = SEGMENTS, *, held: bytes | None = None) -> Iterator[bytes]:
        """Yields the lines of one segment, which has a digest of its own; reads no other part of the file.

        held: the file from `unchecked`, if the caller has it.
        """
        file = self.file(suffix)
        if held is None:
            frames = self._files.read(file, segment.offset, segment.length)
        else:
            frames = held[segment.offset : segment.offset + segment.length]
        small = self._files.small_segment(file, frames, segment)
        return self._files.segment(file, segment_lines(frames, segment)) if small is None else iter(small)

    def require_sound(self) -> None:
        """Raises `DamagedFileError` if a file that was begun and not read to its end does not match the record."""
        if self._checked is not None:
            self._checked.require_all_begun_sound()
