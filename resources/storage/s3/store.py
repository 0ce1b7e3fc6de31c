"""The store in a bucket of S3 or of a compatible store.

Files of a partition carry a version of their content in their key, so that old and new ones lie side by side until the
record switches (`s3_paths`, `s3_upload`). Files that are mapped or read at random are copied to a cache folder first.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import msgspec
from typing_extensions import override

from resources.errors import ConfigError, LeaseLostError, StorageError
from resources.storage.file_cache import FileCache
from resources.storage.holders import Process, this_process
from resources.storage.interface import Entry, Storage, Unpublished
from resources.storage.leases import Held, Lease
from resources.storage.s3.address import Address, parse_address
from resources.storage.s3.client import (
    S3Settings,
    client,
    holds_conditions,
    of_bucket,
    translated,
    version_of,
)
from resources.storage.s3.listing import folders, listed
from resources.storage.s3.objects import S3Objects
from resources.storage.s3.old_uploads import abort_old_uploads, old_uploads
from resources.storage.s3.paths import has_version, require_relative
from resources.storage.s3.ranges import FIRST, Object, Piece, RangeReader, get, stream
from resources.storage.s3.upload import S3Unpublished
from resources.storage.small_objects.builders import ObjectBuilders, require_builder, written_down
from resources.storage.small_objects.conditional import create, replace
from resources.storage.small_objects.leases import BuilderLease, ObjectLeases

_SEEKING = ".h5"
_AT_RANDOM = (".npy", _SEEKING)
_READ_ONCE = 1 << 16
"""Readers keep the content of files up to this size; larger files are checked first, and then read."""

_TRIES = 5
_VERSIONS: dict[tuple[str, str], str] = {}
"""Versions of the files that this process copied and whose paths hold no version, by store and path."""

_MOST_VERSIONS = 1 << 18


@dataclass(frozen=True)
class S3Storage(Storage):
    """A place in a bucket, how it is reached, and where copies lie on this machine. lease_expiry: in seconds."""

    address: Address
    settings: S3Settings
    cache: FileCache
    lease_expiry: float = 120.0

    @property
    @override
    def place(self) -> str:
        return str(self.address)

    @property
    @override
    def identity(self) -> str:
        return f"{self.settings.endpoint} {self.place}" if self.settings.endpoint else self.place

    @property
    @override
    def readers(self) -> int:
        return self.settings.concurrency

    @property
    def holds_conditions(self) -> bool:
        """Whether the store refuses a write whose condition fails; tried once per process."""
        return holds_conditions(self.settings, self.address)

    def _where(self, path: str) -> dict[str, str]:
        require_relative(path)
        return {"Bucket": self.address.bucket, "Key": self.address.key(path)}

    def _object(self, path: str) -> Object:
        where = self._where(path)
        return Object(self.settings, where["Bucket"], where["Key"], f"{self.place}/{path}", self.is_fixed(path))

    @override
    def open(self, path: str) -> BinaryIO:
        source = self._object(path)
        if path.endswith(_AT_RANDOM) and (copy := self._same_copy(path)):
            return copy
        first = get(source, 0, min(FIRST, self.settings.part_size))
        if path.endswith(_AT_RANDOM) and first.total > _READ_ONCE:
            return self._opened(path, first)
        return cast(BinaryIO, stream(source, first))

    @override
    def sequential(self, path: str) -> BinaryIO:
        source = self._object(path)
        return cast(BinaryIO, stream(source, get(source, 0, min(FIRST, self.settings.part_size))))

    def _same_copy(self, path: str) -> BinaryIO | None:
        """Opens the local copy of a file with a plain name, if the store still has that version."""
        with suppress(FileNotFoundError):
            if copy := self._present_copy(path):
                return copy.open("rb")
        return None

    def _present_copy(self, path: str) -> Path | None:
        """Returns an up-to-date copy of a file, if this process has copied some version of it."""
        if (self.identity, path) not in _VERSIONS or (entry := self.stat(path)) is None:
            return None
        return self.cache.find(self._name(path), entry.version, entry.bytes)

    def _known_copy(self, path: str, size: int | None = None) -> Path | None:
        """Returns the local copy of a fixed file."""
        return self.cache.find(self._name(path), "", size) if self.is_fixed(path) else None

    def _name(self, path: str) -> str:
        """Returns the name of a file in the cache."""
        return f"{self.identity}/{path}"

    @override
    def is_fixed(self, path: str) -> bool:
        return has_version(path)

    @override
    def at_hand(self, path: str, size: int | None = None) -> BinaryIO | None:
        with suppress(FileNotFoundError):  # Another process may remove it to make room.
            if copy := self._known_copy(path, size):
                return copy.open("rb")
        return None

    @override
    def from_store(self, path: str) -> BinaryIO:
        if not path.endswith(_SEEKING):
            return self.sequential(path)
        copy = self.cache.spool()
        with self.sequential(path) as content:
            shutil.copyfileobj(content, copy, 1 << 20)
        copy.seek(0)
        return copy

    @override
    def forget_copy(self, path: str) -> bool:
        version = "" if self.is_fixed(path) else _VERSIONS.get((self.identity, path))
        if version is not None:
            self.cache.forget(self._name(path), version)
        return version is not None

    def _opened(self, path: str, first: Piece) -> BinaryIO:
        """Copies a file whose first piece was read, and opens the copy."""
        for _ in range(_TRIES):
            copy = self._copy(path, first)
            with suppress(FileNotFoundError):  # Another process removed it to make room.
                return copy.open("rb")
        raise StorageError(f"{self.cache.folder}: copies are removed before they are read; raise storage.cache.limit")

    def _copy(self, path: str, first: Piece) -> Path:
        def write(file: BinaryIO) -> None:
            with RangeReader(self._object(path), first) as content:
                shutil.copyfileobj(content, file, 1 << 20)

        if self.is_fixed(path):  # Existing copies are not used here: the caller may want to compare the stored bytes.
            return self.cache.keep(self._name(path), "", write)
        self._note(path, first.etag)
        found = self.cache.find(self._name(path), first.etag, first.total)
        return found or self.cache.keep(self._name(path), first.etag, write)

    def _note(self, path: str, version: str) -> None:
        if len(_VERSIONS) >= _MOST_VERSIONS:
            _VERSIONS.clear()
        _VERSIONS[self.identity, path] = version

    @override
    def read(self, path: str, offset: int, size: int) -> bytes:
        if copy := self.at_hand(path):
            with copy:
                copy.seek(offset)
                return copy.read(size)
        return get(self._object(path), offset, size).content if size else b""

    @override
    def fetch(self, path: str) -> str:
        if copy := self._known_copy(path) or self._present_copy(path):
            return str(copy)
        return str(self._copy(path, get(self._object(path), 0, min(FIRST, self.settings.part_size))))

    @override
    def entries(self, prefix: str) -> Iterator[Entry]:
        if prefix:
            require_relative(prefix)
        below = f"{prefix.rstrip('/')}/" if prefix else ""
        top = len(self.address.key("")) if self.address.prefix else 0
        with of_bucket(self.place):
            found = listed(client(self.settings), self.address.bucket, self.address.key(below))
            yield from (Entry(key[top:], size, version) for key, size, version in found)

    @override
    def folders(self, prefix: str) -> Iterator[str]:
        require_relative(prefix)
        with of_bucket(self.place):
            yield from folders(client(self.settings), self.address.bucket, self.address.key(f"{prefix}/"))

    @override
    def stat(self, path: str) -> Entry | None:
        try:
            with translated(f"{self.place}/{path}"):
                reply = client(self.settings).head_object(**self._where(path))
        except FileNotFoundError:
            return None
        version = version_of(reply, f"{self.place}/{path}")
        return Entry(path, reply["ContentLength"], version)

    @override
    def delete(self, path: str) -> None:
        with suppress(FileNotFoundError), translated(f"{self.place}/{path}"):
            client(self.settings).delete_object(**self._where(path))

    @override
    def write(self, path: str, content: bytes) -> Entry | None:
        require_relative(path)
        return Entry(path, len(content), self._objects.write(path, content))

    @override
    def replace(self, path: str, content: bytes, version: str | None) -> Entry | None:
        if not self.shares:
            return self.write(path, content)
        require_relative(path)
        if version is None:
            new = create(self._objects, path, content)
        else:
            new = replace(self._objects, path, content, version)
        if new is None:
            raise LeaseLostError(f"{self.place}/{path}: another builder has written this meanwhile")
        return Entry(path, len(content), new)

    @override
    def remove(self, path: str, content: bytes, version: str) -> Entry | None:
        if self.shares:
            return self.replace(path, content, version)
        self.delete(path)
        return None

    @property
    def _objects(self) -> S3Objects:
        return S3Objects(self.settings, self.address)

    @property
    def _quick(self) -> S3Objects:
        """The same store with requests that time out long before a lease expires.

        The client is made at once: on a busy machine the renewing thread would need seconds for it.
        """
        settings = msgspec.structs.replace(self.settings, patience=self.lease_expiry / 8)
        client(settings)
        return S3Objects(settings, self.address)

    @override
    def begin(self) -> Unpublished:
        return S3Unpublished(self.address, self.settings, self.cache, self.identity)

    @property
    @override
    def shares(self) -> bool:
        return self.holds_conditions

    @override
    @contextmanager
    def exclusive(self) -> Iterator[None]:
        with self._builders.join(this_process(), alone=True):
            yield

    @override
    def require_held(self) -> None:
        require_builder(self._objects, this_process())

    @override
    @contextmanager
    def shared(self, builder: Process) -> Iterator[Sequence[Process]]:
        with self._builders.join(builder, alone=False) as others:
            yield others

    @override
    def at_work(self) -> list[str]:
        return [f"{one.words.rstrip(',')}, unless it was killed," for one in written_down(self._objects)]

    @property
    def _builders(self) -> ObjectBuilders:
        return ObjectBuilders(self._objects, self.place, self.lease_expiry, self.shares, self._quick)

    @override
    def lease(self, name: str, builder: Process, expired: str = "") -> Lease | Held:
        if not self.shares:
            require_builder(self._objects, builder)
            return BuilderLease(self._objects, builder)
        return self._leases.take(name, builder, expired)

    @override
    def leases(self) -> Iterator[tuple[str, str]]:
        return self._leases.held()

    @property
    def _leases(self) -> ObjectLeases:
        return ObjectLeases(self._objects, self.lease_expiry, quick=self._quick)

    @override
    def abandoned(self) -> list[str]:
        return [f"{key} (upload {number})" for key, number in old_uploads(self.settings, self.address)]

    @override
    def remove_abandoned(self) -> int:
        return abort_old_uploads(self.settings, self.address)


def open_s3(root: str, folder: Path, section: Mapping[str, Any]) -> S3Storage:
    """Returns the store of an address `s3://bucket/prefix`, which section `storage` of corpus.yaml describes."""
    try:
        address = parse_address(root)
    except ValueError as error:
        raise ConfigError(f"storage.root: {error}") from None
    given = dict(section["s3"])
    return S3Storage(address, S3Settings(**given), _cache(folder, section["cache"]), section["lease"])


def _cache(folder: Path, section: Mapping[str, Any]) -> FileCache:
    """Returns the folder of this user's copies; users may share a cache, but cannot read each other's copies."""
    given = section["folder"]
    copies = FileCache(folder / given / f"user-{os.geteuid()}" if given else None, section["limit"])
    try:
        copies.folder.absolute()
    except StorageError as error:
        raise ConfigError(str(error)) from None
    return copies
