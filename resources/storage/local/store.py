"""The store in a folder of this machine."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from typing import Any, BinaryIO

from typing_extensions import override

from resources.errors import ConfigError, is_of_the_file
from resources.storage.file_times import settled
from resources.storage.holders import Process
from resources.storage.interface import Entry, Storage, Unpublished, UnsettledEntry
from resources.storage.leases import Held, Lease
from resources.storage.local import files, locks
from resources.storage.local.unpublished import TEMPORARY, LocalUnpublished
from resources.storage.local.writers import alive, new_name
from resources.system_errors import at, open_placed, placed
from resources.tidying import remove_folder


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
        return Path(files.place_of(self.root, path))

    @override
    def open(self, path: str) -> BinaryIO:
        return open_placed(files.place_of(self.root, path))

    @override
    def read(self, path: str, offset: int, size: int) -> bytes:
        place = files.place_of(self.root, path)
        try:
            return files.read_part(place, offset, size)
        except OSError as error:
            raise placed(error, "reading", place) from None

    @override
    def small(self, path: str, size: int) -> bytes:
        place = files.place_of(self.root, path)
        try:
            return files.read_small(place, size)
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
            info = os.stat(files.place_of(self.root, path))  # noqa: PTH116
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise placed(error, "looking at", files.place_of(self.root, path)) from None
        return _entry(path, info)

    @override
    def delete(self, path: str) -> None:
        target = self.resolve(path)
        with suppress(FileNotFoundError):
            with at("removing", target):
                target.unlink()
            if self.sync:
                files.sync_folder(target.parent)

    @override
    def take_away(self, path: str, content: bytes, version: str) -> bool:
        """Moves the file aside and examines it; a file written meanwhile goes back, unless a newer one exists."""
        del content
        target, aside = self.resolve(path), self.root / TEMPORARY / new_name()
        try:
            with at("removing", target):
                aside.mkdir(parents=True)
                moved = target.rename(aside / "0")
                found = ""
                try:
                    found = str(moved.stat().st_mtime_ns)
                finally:
                    if found != version:
                        with suppress(FileExistsError):
                            os.link(moved, target)
            if self.sync:
                files.sync_folder(target.parent)
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
        return LocalUnpublished(self.root, sync=self.sync)

    def _prepare(self) -> None:
        """Makes the folder of the store; `StorageError` if that cannot be done, or if it cannot be synced."""
        try:
            files.make_folder(self.root, self.root, sync=self.sync)
        except OSError as error:
            raise locks.not_writable(self.root, error) from None
        if self.sync:
            with suppress(OSError):  # A full disk is told by what is written, with advice.
                files.sync_folder(self.root)

    @override
    @contextmanager
    def exclusive(self) -> Iterator[None]:
        self._prepare()
        with locks.exclusive(self.root):
            yield

    @property
    @override
    def shares(self) -> bool:
        return locks.SHARES

    @override
    @contextmanager
    def shared(self, builder: Process) -> Iterator[Sequence[Process]]:
        self._prepare()
        with locks.shared(self.root, builder) if self.shares else super().shared(builder) as others:
            yield others

    @override
    def lease(self, name: str, builder: Process, expired: str = "") -> Lease | Held:
        return locks.take_lease(self.root, name, builder.nonce) if self.shares else super().lease(name, builder)

    @override
    def at_work(self) -> list[str]:
        return [builder.words.rstrip(",") for builder in locks.at_work(self.root)]

    @override
    def abandoned(self) -> list[str]:
        folder = self.root / TEMPORARY
        alone = locks.is_alone(self.root)
        return [f"{TEMPORARY}/{item.name}" for item in files.paths_in(folder) if not alive(item, alone=alone)]

    @override
    def remove_abandoned(self) -> int:
        left = self.abandoned()
        for path in left:
            remove_folder(self.resolve(path))
        return len(left)


def _entry(path: str, info: os.stat_result) -> Entry:
    return (Entry if settled(info) else UnsettledEntry)(path, info.st_size, str(info.st_mtime_ns))


def open_local(root: str, folder: Path, section: Mapping[str, Any]) -> LocalStorage:
    """Returns the store of `storage.kind: local`, a folder; a relative path starts at the folder of corpus.yaml."""
    place = folder / root
    present = next((str(one) for one in (place, *place.parents) if os.path.lexists(one)), "/")
    if not _is_folder(present):
        raise ConfigError(f"storage.root: received {root!r}, but {present} is not a folder; valid is a folder")
    return LocalStorage(place, section["sync"])


def _is_folder(place: str) -> bool:
    """Returns whether a path leads to a folder; False too for one that may not be looked at."""
    try:
        return S_ISDIR(os.stat(place).st_mode)  # noqa: PTH116
    except OSError as error:
        if not is_of_the_file(error):
            raise placed(error, "looking at", place) from None
        return False
