"""The store in a folder of this machine.

Files are written under `.tmp/`, synced, and renamed into place when all files of their partition are complete.
"""

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from typing_extensions import override

from resources.errors import ConfigError, StorageError
from resources.storage import local_locks
from resources.storage.file_times import settled
from resources.storage.holders import Process
from resources.storage.interface import Entry, Storage, Unpublished, UnsettledEntry
from resources.storage.leases import Held, Lease
from resources.storage.local_writers import alive, new_name
from resources.stored_digest import WrittenFile
from resources.system_errors import at, new_placed, open_placed, placed
from resources.tidying import remove_folder

TEMPORARY = ".tmp"
_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


@dataclass(frozen=True)
class LocalStorage(Storage):
    """A folder on this machine. `sync` makes every commit survive a power cut; tests may switch it off."""

    root: Path
    sync: bool = True

    @property
    @override
    def place(self) -> str:
        return str(self.root)

    def resolve(self, path: str) -> Path:
        """Returns the absolute path of a stored file; `StorageError` when `path` would leave the root."""
        return Path(self._place(path))

    def _place(self, path: str) -> str:
        # Without pathlib, in which a stage that reads a little of thousands of files would spend half its time.
        if path.startswith("/") or ".." in path.split("/"):
            raise StorageError(f"{path!r}: a stored path is relative and has no '..'")
        return f"{self.root}/{path}"

    def make_folder(self, folder: Path) -> None:
        """Makes a folder and its parents, each durable in its parent."""
        with at("looking at", folder):
            if folder.is_dir():
                return
        if folder != self.root:
            self.make_folder(folder.parent)
        with at("making the folder", folder):
            folder.mkdir(parents=True, exist_ok=True)
        if self.sync:
            _sync_folder(folder.parent)

    @override
    def open(self, path: str) -> BinaryIO:
        return open_placed(self._place(path))

    @override
    def read(self, path: str, offset: int, size: int) -> bytes:
        place = self._place(path)
        try:
            return _read_part(place, offset, size)
        except OSError as error:
            raise placed(error, "reading", place) from None

    @override
    def small(self, path: str, size: int) -> bytes:
        place = self._place(path)
        try:
            return _read_small(place, size)
        except OSError as error:
            raise placed(error, "reading", place) from None

    @override
    def fetch(self, path: str) -> str:
        return str(self.resolve(path))

    @override
    def entries(self, prefix: str) -> Iterator[Entry]:
        for path, item in self._walk(prefix):
            try:
                info = item.stat()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise placed(error, "looking at", item.path) from None
            yield _entry(path, info)

    @override
    def folders(self, prefix: str) -> Iterator[str]:
        folder = self.resolve(prefix)
        with suppress(FileNotFoundError), at("listing", folder), os.scandir(folder) as items:
            yield from (item.name for item in items if item.is_dir())

    @override
    def paths(self, prefix: str) -> Iterator[str]:
        return (path for path, _ in self._walk(prefix))

    def _walk(self, prefix: str) -> Iterator[tuple[str, "os.DirEntry[str]"]]:
        folders = [(str(self.resolve(prefix)), prefix.rstrip("/"))]
        while folders:
            folder, relative = folders.pop()
            try:
                scan = os.scandir(folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise placed(error, "listing", folder) from None
            above = f"{relative}/" if relative else ""
            with at("listing", folder), scan:
                for item in scan:
                    path = above + item.name
                    if item.is_dir(follow_symlinks=False):
                        folders.append((item.path, path))
                    else:
                        yield path, item

    @override
    def stat(self, path: str) -> Entry | None:
        try:
            info = os.stat(self._place(path))  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise placed(error, "looking at", self._place(path)) from None
        return _entry(path, info)

    @override
    def delete(self, path: str) -> None:
        target = self.resolve(path)
        with suppress(FileNotFoundError):
            with at("removing", target):
                target.unlink()
            if self.sync:
                _sync_folder(target.parent)

    @override
    def take_away(self, path: str, content: bytes, version: str) -> bool:
        """Moves the file aside and examines it; a file written meanwhile goes back, unless a newer one exists."""
        del content
        target, aside = self.resolve(path), self.root / TEMPORARY / new_name()
        try:
            with at("removing", target):
                aside.mkdir(parents=True)
                moved = target.rename(aside / "0")
                found = str(moved.stat().st_mtime_ns)
                if found != version:
                    with suppress(FileExistsError):
                        os.link(moved, target)
            if self.sync:
                _sync_folder(target.parent)
        except FileNotFoundError:
            return False
        finally:
            remove_folder(aside)
        return found == version

    @override
    def write(self, path: str, content: bytes) -> Entry | None:
        unpublished = self.begin()
        try:
            unpublished.create(path).write(content)
            unpublished.publish()
            return self.stat(path)
        finally:
            unpublished.discard()

    @override
    def begin(self) -> Unpublished:
        return LocalUnpublished(self)

    def _prepare(self) -> None:
        """Makes the folder of the store; `StorageError` if that cannot be done, or if it cannot be synced."""
        try:
            self.make_folder(self.root)
        except OSError as error:
            raise local_locks.not_writable(self.root, error) from None
        if self.sync:
            with suppress(OSError):  # A full disk is told by what is written, with advice.
                _sync_folder(self.root)

    @override
    @contextmanager
    def exclusive(self) -> Iterator[None]:
        self._prepare()
        with local_locks.exclusive(self.root):
            yield

    @property
    @override
    def shares(self) -> bool:
        return local_locks.SHARES

    @override
    @contextmanager
    def shared(self, builder: Process) -> Iterator[Sequence[Process]]:
        self._prepare()
        with local_locks.shared(self.root, builder) if self.shares else super().shared(builder) as others:
            yield others

    @override
    def lease(self, name: str, builder: Process, expired: str = "") -> Lease | Held:
        return local_locks.take_lease(self.root, name, builder.nonce) if self.shares else super().lease(name, builder)

    @override
    def at_work(self) -> list[str]:
        return [builder.words.rstrip(",") for builder in local_locks.at_work(self.root)]

    @override
    def abandoned(self) -> list[str]:
        folder = self.root / TEMPORARY
        alone = local_locks.is_alone(self.root)
        return sorted(f"{TEMPORARY}/{item.name}" for item in folder.glob("*") if not alive(item, alone=alone))

    @override
    def remove_abandoned(self) -> int:
        left = self.abandoned()
        for path in left:
            remove_folder(self.resolve(path))
        return len(left)


class _Created(NamedTuple):
    """A file that is being written. path: where it will appear, in the store; target: the same, on this machine."""

    path: str
    raw: WrittenFile
    handle: BinaryIO
    temporary: Path
    target: Path

    def complete(self, *, sync: bool) -> str:
        """Closes the file once all of it is there; returns the digest of its bytes."""
        if self.handle.closed:
            with open_placed(self.temporary, self.target) as again:
                return self.raw.stored_digest(again.fileno())
        self.handle.flush()
        digest = self.raw.stored_digest(self.raw.descriptor)
        if sync:
            _sync(self.raw.descriptor, "syncing", self.target)
        self.handle.close()
        return digest


class LocalUnpublished(Unpublished):
    """Files of one partition under `.tmp/<host>@<place>-<ticks>.<pid>.<nonce>/`, renamed into place by `publish`."""

    def __init__(self, storage: LocalStorage) -> None:
        self._storage = storage
        self._folder = storage.root / TEMPORARY / new_name()
        self._has_folder = False
        self._files: list[_Created] = []
        self._digests: dict[str, str] = {}
        self._scratch: list[BinaryIO] = []

    def _new(self) -> Path:
        if not self._has_folder:
            self._storage.make_folder(self._storage.root)
            with at("making the folder", self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            self._has_folder = True
        return self._folder / str(len(self._files) + len(self._scratch))

    @override
    def create(self, path: str) -> BinaryIO:
        target, temporary = self._storage.resolve(path), self._new()
        raw, handle = WrittenFile.opened(temporary, target)
        self._files.append(_Created(path, raw, handle, temporary, target))
        return handle

    @override
    def replaced(self, path: str) -> bool:
        place = self._storage.resolve(path)
        try:
            place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise placed(error, "looking at", place) from None
        return True

    @override
    def digest(self, path: str) -> str:
        return self._digests[path]

    @override
    def scratch(self) -> BinaryIO:
        path = self._new()
        handle = new_placed(path, f"{self._folder} (scratch file)")
        self._scratch.append(handle)
        with at("unlinking the name of", path):
            path.unlink()
        return handle

    @override
    def prepare(self) -> None:
        for file in self._files:
            if file.path not in self._digests:
                self._digests[file.path] = file.complete(sync=self._storage.sync)
        for folder in {file.target.parent for file in self._files}:
            self._storage.make_folder(folder)

    @override
    def publish(self) -> None:
        self.prepare()
        folders = {file.target.parent for file in self._files}
        for file in self._files:
            with at("renaming a written file to", file.target):
                file.temporary.replace(file.target)
        if self._storage.sync:
            for folder in folders:
                _sync_folder(folder)
        self._files.clear()

    @override
    def discard(self) -> None:
        for handle in [file.handle for file in self._files] + self._scratch:
            # Closing writes buffered data, which a full disk refuses; the data is no longer wanted.
            with suppress(OSError):
                handle.close()
        self._files.clear()
        self._scratch.clear()
        self._has_folder = False
        remove_folder(self._folder)


def _entry(path: str, info: os.stat_result) -> Entry:
    return (Entry if settled(info) else UnsettledEntry)(path, info.st_size, str(info.st_mtime_ns))


def _read_part(place: str, offset: int, size: int) -> bytes:
    # Without a file object, because a chunk reads a little of each of thousands of files.
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _read(descriptor, offset, size)
    finally:
        os.close(descriptor)


def _read_small(place: str, size: int) -> bytes:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Reading one byte more shows the end without a second read.
        found = os.pread(descriptor, size + 1, 0)
        return found if len(found) >= size else _read(descriptor, 0, size + 1)
    finally:
        os.close(descriptor)


def _read(descriptor: int, offset: int, size: int) -> bytes:
    """Returns bytes of an open file, fewer only at its end; one read of the system gives 2 GiB at most."""
    found = os.pread(descriptor, size, offset)
    if len(found) == size or not found:
        return found
    pieces = [found]
    while piece := os.pread(descriptor, size - sum(map(len, pieces)), offset + sum(map(len, pieces))):
        pieces.append(piece)
    return b"".join(pieces)


def _sync_folder(folder: Path) -> None:
    with at("opening the folder", folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        _sync(descriptor, "syncing the folder", folder)
    finally:
        os.close(descriptor)


def _sync(descriptor: int, doing: str, place: Path) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise placed(error, doing, place) from None
        raise StorageError(
            f"{place}: this file system does not sync ({error.strerror}), so a power cut may cost what was committed; "
            "put storage.root on one that does, or set storage.sync: false"
        ) from None


def open_local(root: str, folder: Path, section: Mapping[str, Any]) -> LocalStorage:
    """Returns the store of `storage.kind: local`, a folder; a relative path starts at the folder of corpus.yaml."""
    place = folder / root
    present = next((str(one) for one in (place, *place.parents) if os.path.lexists(one)), "/")
    if not os.path.isdir(present):  # noqa: PTH112, because `Path.is_dir` raises where a folder may not be looked into
        raise ConfigError(f"storage.root: received {root!r}, but {present} is not a folder; valid is a folder")
    return LocalStorage(place, section["sync"])
