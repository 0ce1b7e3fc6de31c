"""Copies partitions from one store to another: the files first, each compared with its record, then the record."""

import io
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO, cast

import msgspec
from typing_extensions import override

from resources.errors import CorpusError, DamagedFileError
from resources.formats.file_format import blocks_of
from resources.formats.known import fault_of
from resources.ledger.ledger import Ledger
from resources.ledger.records import FileRecord, Record, record_path
from resources.seekable import Seekable
from resources.stage.jobs.making_way import make_way
from resources.storage.interface import Unpublished
from resources.storage.s3.paths import unversioned


def with_plain_paths(record: Record) -> Record:
    """Returns a record as a store without folders of versions has it."""
    return _with_paths(record, unversioned)


def _with_paths(record: Record, path_of: Callable[[str], str]) -> Record:
    files = [msgspec.structs.replace(file, path=path_of(file.path)) for file in record.files]
    return msgspec.structs.replace(record, files=files)


class Copier:
    """Copies partitions from the store of one ledger to that of another; may be called from several threads.

    on_bytes: called with the number of bytes each time some were copied.
    """

    def __init__(self, source: Ledger, target: Ledger, on_bytes: Callable[[int], object]) -> None:
        self._source = source
        self._target = target
        self._on_bytes = on_bytes
        self._look = secrets.token_hex(8)

    def copy(self, record: Record) -> Record | None:
        """Copies a partition and commits it in the target; returns its record there.

        If the partition is rebuilt meanwhile, its new content is copied. None if the source no longer has it.
        `DamagedFileError` if a file does not match its record; then nothing was changed. `BuilderLostError` or
        `LeaseLostError` if other processes went on without this one, and may have committed the partition.
        """
        current: Record | None = record
        while current is not None:
            try:
                return self._copy(current)
            except (CorpusError, OSError):
                before, current = current, self._source.read(record.asset, record.partition)
                if current == before:
                    raise
        return None

    def _copy(self, record: Record) -> Record:
        before = self._version(record)
        unpublished = self._target.storage.begin()
        try:
            copies = {file.path: self._transfer(record, file, unpublished) for file in record.files}
            for file in record.files:
                if problem := fault_of(partial(_opened, copies), file.path, file.digest, file.stored):
                    raise _damaged(record, file, problem)
            return self._commit(record, before, unpublished)
        finally:
            unpublished.discard()

    def _transfer(self, record: Record, file: FileRecord, unpublished: Unpublished) -> BinaryIO:
        """Copies the bytes of a file to an unpublished file, and returns that."""
        copy = unpublished.create(unversioned(file.path))
        try:
            with self._source.storage.sequential(file.path) as stored:
                for block in blocks_of(stored):
                    copy.write(block)
                    self._on_bytes(len(block))
        except FileNotFoundError:
            raise _damaged(record, file, "is missing") from None
        copy.flush()  # A full disk is noticed here, so that it is not taken for damage.
        if (found := copy.tell()) != file.bytes:
            raise _damaged(record, file, f"has {found} bytes, its record says {file.bytes}")
        return copy

    def _version(self, record: Record) -> str | None:
        """Returns the version of what the target has as the record of a partition, damaged or not."""
        entry = self._target.storage.stat(record_path(record.asset, record.partition))
        return entry and entry.version

    def _commit(self, record: Record, before: str | None, unpublished: Unpublished) -> Record:
        """Commits a partition in the place of the record of version `before`, if the target is still held."""
        unpublished.prepare()
        self._target.storage.require_held()
        if unpublished.replaces:
            self._make_way(record, unpublished)
            before = self._target.remove(record.asset, record.partition, before)
        unpublished.publish()
        committed = _with_paths(record, lambda path: unpublished.stored(unversioned(path)))
        self._target.replace(committed, before)
        return committed

    def _make_way(self, record: Record, unpublished: Unpublished) -> None:
        """Removes the target's records of other partitions that name files which are about to be copied."""
        storage = self._target.storage
        paths = [unversioned(file.path) for file in record.files]
        known = {path: unpublished.replaced(path) for path in paths}
        there = [path for path in paths if known[path] or (known[path] is None and storage.stat(path))]
        own = self._target.known(record.asset, record.partition) if there else None
        make_way(storage, self._look, (record.asset, record.partition), there, own)

    def copy_record(self, record: Record, before: Record) -> Record:
        """Copies the record of a partition whose files the target has, under the paths of its record `before`."""
        places = {unversioned(file.path): file.path for file in before.files}
        committed = _with_paths(record, lambda path: places[unversioned(path)])
        version = self._version(record)
        self._target.storage.require_held()
        self._target.replace(committed, version)
        return committed


def _damaged(record: Record, file: FileRecord, problem: str) -> DamagedFileError:
    return DamagedFileError(record.asset, record.partition, file.path, problem)


class _Reread(Seekable):
    """Reads back a file that is open for writing, and leaves it open."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file

    @override
    def end(self) -> int:
        return self._file.seek(0, io.SEEK_END)

    @override
    def readinto(self, buffer: Any) -> int:
        self._file.seek(self._position)
        block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        self._position += len(block)
        return len(block)


def _opened(copies: Mapping[str, BinaryIO], path: str) -> BinaryIO:
    if path not in copies:
        raise FileNotFoundError(path)
    return cast(BinaryIO, io.BufferedReader(_Reread(copies[path])))
