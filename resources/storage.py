"""One small interface over where the corpus lives. The local disk is here; S3 fits the same shape.

A partition is published in one go: files are written under `.tmp/`, synced, and renamed into place only when all
of them are complete. Nothing under any other folder is ever half-written.
"""

import fcntl
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, Protocol, TextIO

from resources.errors import StorageError

TEMPORARY = ".tmp"
LOCK = ".lock"
_HELD: dict[Path, int] = {}
_OWNER = re.compile(r"(?P<host>.+)\.(?P<pid>\d+)\.[0-9a-f]+")


class Entry(NamedTuple):
    """One stored file: path relative to the root, size, and a token that changes when it is rewritten."""

    path: str
    bytes: int
    version: str


class Pending(Protocol):
    """Files being written that nobody can see yet."""

    def create(self, path: str) -> BinaryIO:
        """A new file, open for reading, writing and seeking, that will appear at `path`."""

    def scratch(self) -> BinaryIO:
        """A temporary file that goes away with this object."""

    def publish(self) -> None:
        """Make every created file durable and visible. Each appears whole or not at all."""

    def discard(self) -> None:
        """Remove everything that was not published; harmless after `publish`."""


class Storage(Protocol):
    """Where a corpus lives. Paths are relative, with `/`, and never leave the root. Hashable and picklable."""

    def __hash__(self) -> int: ...

    def open(self, path: str) -> BinaryIO:
        """A stored file, open for reading and seeking; `FileNotFoundError` when there is none."""

    def fetch(self, path: str) -> str:
        """A path on this machine with the file's content, for memory mapping."""

    def entries(self, prefix: str) -> Iterator[Entry]:
        """Every file below the folder `prefix`, in no particular order; nothing when it does not exist."""

    def stat(self, path: str) -> Entry | None:
        """The entry of one file, or None."""

    def delete(self, path: str) -> None:
        """Remove a file; one that is already gone is fine."""

    def write(self, path: str, content: bytes) -> None:
        """Write a whole file atomically and durably."""

    def begin(self) -> Pending:
        """Start a set of files that become visible together."""

    def exclusive(self) -> AbstractContextManager[None]:
        """Keep every other process from building on this store."""

    def remove_abandoned(self) -> int:
        """Remove what killed writers left behind."""


@dataclass(frozen=True)
class LocalStorage:
    """A folder on this machine. `sync` makes every commit survive a power cut; tests may switch it off."""

    root: Path
    sync: bool = True

    def resolve(self, path: str) -> Path:
        """Absolute path of a stored file; `StorageError` when `path` would leave the root."""
        pure = PurePosixPath(path)
        if pure.is_absolute() or ".." in pure.parts:
            raise StorageError(f"{path!r}: a stored path is relative and has no '..'")
        return self.root / pure

    def open(self, path: str) -> BinaryIO:
        """See `Storage.open`."""
        return self.resolve(path).open("rb")

    def fetch(self, path: str) -> str:
        """See `Storage.fetch`."""
        return str(self.resolve(path))

    def entries(self, prefix: str) -> Iterator[Entry]:
        """See `Storage.entries`."""
        top = self.resolve(prefix)
        pending = [(str(top), prefix.rstrip("/"))]
        while pending:
            folder, relative = pending.pop()
            try:
                scan = os.scandir(folder)
            except (FileNotFoundError, NotADirectoryError):
                continue
            with scan:
                for item in scan:
                    path = f"{relative}/{item.name}" if relative else item.name
                    if item.is_dir(follow_symlinks=False):
                        pending.append((item.path, path))
                        continue
                    with suppress(FileNotFoundError):
                        info = item.stat()
                        yield Entry(path, info.st_size, str(info.st_mtime_ns))

    def stat(self, path: str) -> Entry | None:
        """See `Storage.stat`."""
        try:
            info = self.resolve(path).stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Entry(path, info.st_size, str(info.st_mtime_ns))

    def delete(self, path: str) -> None:
        """See `Storage.delete`."""
        target = self.resolve(path)
        with suppress(FileNotFoundError):
            target.unlink()
            if self.sync:
                _sync_folder(target.parent)

    def write(self, path: str, content: bytes) -> None:
        """See `Storage.write`."""
        pending = self.begin()
        try:
            pending.create(path).write(content)
            pending.publish()
        finally:
            pending.discard()

    def begin(self) -> "LocalPending":
        """See `Storage.begin`."""
        return LocalPending(self)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep every other process from building on this store; may be nested within a process.

        `StorageError` when another process holds it. It is let go when the process ends, however it ends.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / LOCK).open("a+") as file:
            if self.root not in _HELD:
                _lock(file, self.root)
            _HELD[self.root] = _HELD.get(self.root, 0) + 1
            try:
                yield
            finally:
                _HELD[self.root] -= 1
                if not _HELD[self.root]:
                    del _HELD[self.root]

    def abandoned(self) -> list[str]:
        """Temporary folders whose writer is gone: they hold nothing that was ever visible."""
        folder = self.root / TEMPORARY
        return sorted(f"{TEMPORARY}/{item.name}" for item in folder.glob("*") if not _alive(item.name))

    def remove_abandoned(self) -> int:
        """Remove what killed writers left behind; returns how many temporary folders went."""
        left = self.abandoned()
        for path in left:
            shutil.rmtree(self.resolve(path), ignore_errors=True)
        return len(left)


class LocalPending:
    """Files of one partition under `.tmp/<host>.<pid>.<nonce>/`, renamed into place by `publish`."""

    def __init__(self, storage: LocalStorage) -> None:
        self._storage = storage
        owner = f"{socket.gethostname()}.{os.getpid()}"
        self._folder = storage.root / TEMPORARY / f"{owner}.{secrets.token_hex(8)}"
        self._files: list[tuple[BinaryIO, Path, Path]] = []
        self._scratch: list[BinaryIO] = []

    def _open(self) -> tuple[BinaryIO, Path]:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / str(len(self._files) + len(self._scratch))
        return path.open("w+b"), path

    def create(self, path: str) -> BinaryIO:
        """See `Pending.create`."""
        handle, temporary = self._open()
        self._files.append((handle, temporary, self._storage.resolve(path)))
        return handle

    def scratch(self) -> BinaryIO:
        """See `Pending.scratch`."""
        handle, path = self._open()
        path.unlink()
        self._scratch.append(handle)
        return handle

    def publish(self) -> None:
        """See `Pending.publish`."""
        for handle, _, _ in self._files:
            handle.flush()
            if self._storage.sync:
                os.fsync(handle.fileno())
            handle.close()
        folders = {target.parent for _, _, target in self._files}
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        for _, temporary, target in self._files:
            temporary.replace(target)
        if self._storage.sync:
            for folder in folders:
                _sync_folder(folder)
        self._files.clear()

    def discard(self) -> None:
        """See `Pending.discard`."""
        for handle in [file[0] for file in self._files] + self._scratch:
            handle.close()
        self._files.clear()
        self._scratch.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def _lock(file: TextIO, root: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read(100).strip() or "another process"
        raise StorageError(f"{root}: {owner} is building on this store; wait until it is done") from None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}")
    file.flush()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _alive(name: str) -> bool:
    """Whether the writer of a temporary folder still runs; one on another host is taken to."""
    owner = _OWNER.fullmatch(name)
    if owner is None:
        return False
    if owner["host"] != socket.gethostname():
        return True
    try:
        os.kill(int(owner["pid"]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
