"""Copies of stored files on this machine, up to a number of bytes; the least recently used are removed first.

Several processes share the folder. A copy appears by a rename. One that is open or mapped may be removed, since its
bytes stay until it is closed.
"""

import fcntl
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from resources.errors import StorageError, is_full
from resources.hashing import content_digest
from resources.system_errors import new_placed
from resources.user.cache import user_folder

_HALF_WRITTEN = ".half-"
_LOCK = ".lock"
_ABANDONED_SECONDS = 24 * 60 * 60
_DIGITS = 20
_LARGE = 8
"""A file that was written is not kept if it is larger than the limit divided by this."""


@dataclass(frozen=True)
class FileCache:
    """A folder of copies, and how many bytes they may have together.

    given: the folder, the same on all machines; None for that of the user, which each machine finds for itself.
    """

    given: Path | None
    limit: int

    @property
    def folder(self) -> Path:
        """The folder on this machine; `StorageError` if none is given and the user has no home."""
        try:
            return self.given or user_folder("objects")
        except RuntimeError:
            why = "this user has no home folder; valid is a folder for copies"
            raise StorageError(f"storage.cache.folder: {why}") from None

    def find(self, name: str, version: str, size: int | None) -> Path | None:
        """Returns the copy of a file of some version; None if there is none of that size. It counts as used now."""
        place = self._place(name, version)
        with self._faults(name), suppress(FileNotFoundError):
            os.utime(place)
            if size is None or place.stat().st_size == size:
                return place
            self.forget(name, version)
        return None

    def forget(self, name: str, version: str) -> None:
        """Removes a copy, if there is one."""
        self._place(name, version).unlink(missing_ok=True)

    def keep(self, name: str, version: str, write: Callable[[BinaryIO], None]) -> Path:
        """Makes a copy of a file, whose content `write` writes; returns its path. Copies over the limit are removed."""
        with self._faults(name):
            self.folder.mkdir(parents=True, exist_ok=True)
            half = tempfile.NamedTemporaryFile(dir=self.folder, prefix=_HALF_WRITTEN, delete=False)  # noqa: SIM115
        with half:
            try:
                with self._faults(name, of_source=True):
                    write(cast(BinaryIO, half))
                with self._faults(name):
                    half.flush()
                    os.fsync(half.fileno())  # After a power cut, a copy that has its name has its content.
                    return self._publish(Path(half.name), half.tell(), name, version)
            except BaseException:
                Path(half.name).unlink(missing_ok=True)
                raise

    @contextmanager
    def _faults(self, name: str, *, of_source: bool = False) -> Iterator[None]:
        """Raises errors of the folder as `StorageError`.

        of_source: whether only a full disk surely is an error of the folder.
        """
        try:
            yield
        except OSError as error:
            if isinstance(error, StorageError) or (of_source and not is_full(error)):
                raise
            why = error.strerror or str(error)
            raise StorageError(f"{self.folder}: storage.cache.folder cannot be used for {name}: {why}") from None

    def keep_spooled(self, name: str, version: str, descriptor: int) -> None:
        """Makes a spooled file a copy by giving it a name, if the system can and the cache has room for it."""
        size = os.fstat(descriptor).st_size
        half = self.folder / f"{_HALF_WRITTEN}{secrets.token_hex(8)}"
        if size > self.limit // _LARGE:
            return
        with suppress(OSError):
            # Python calls the function that follows links only if it is given a folder, which an absolute path ignores.
            os.link(f"/proc/self/fd/{descriptor}", half, src_dir_fd=descriptor)
            self._publish(half, size, name, version)

    def _publish(self, half: Path, size: int, name: str, version: str) -> Path:
        place = self._place(name, version)
        total = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(total, fcntl.LOCK_EX)
            self._make_room(size, total)
            half.replace(place)
        finally:
            os.close(total)
        return place

    def spool(self) -> BinaryIO:
        """Opens a temporary file without a name in the folder: it disappears with the process, or gets a name."""
        with self._faults("files that are being written"):
            return self._spooled()

    def _spooled(self) -> BinaryIO:
        self.folder.mkdir(parents=True, exist_ok=True)
        shown = f"{self.folder} (a file without a name)"
        with suppress(OSError, AttributeError):  # Not every file system has files without a name.
            return new_placed(os.open(self.folder, os.O_RDWR | os.O_TMPFILE | os.O_CLOEXEC, 0o600), shown)
        with tempfile.TemporaryFile(dir=self.folder) as file:
            return new_placed(os.dup(file.fileno()), shown)

    def _place(self, name: str, version: str) -> Path:
        return self.folder / content_digest(name.encode(), version.encode())

    def _make_room(self, size: int, total: int) -> None:
        """Notes that a copy of `size` bytes is added; if it does not fit, counts again and removes the oldest.

        total: the open, locked file that holds the number of bytes. An eighth of the limit is freed at once, so that
        not every new copy examines all others.
        """
        before = os.pread(total, _DIGITS, 0)
        # Empty at first, and after a process was killed while it wrote the number.
        known = size + (int(before) if before.isdigit() else self._trim(self.limit - size))
        if known > self.limit:
            known = size + self._trim(self.limit - self.limit // 8 - size)
        os.pwrite(total, str(known).encode().zfill(_DIGITS), 0)  # Fixed length: truncating costs a millisecond.

    def _trim(self, most: int) -> int:
        """Removes the least recently used copies until there are at most so many bytes; returns the bytes left."""
        copies = sorted(self._copies())
        held = sum(copy[1] for copy in copies)
        for _, stored, place in copies:
            if held <= most:
                break
            Path(place).unlink(missing_ok=True)
            held -= stored
        return held

    def _copies(self) -> list[tuple[float, int, str]]:
        """Returns last use, bytes and path of each copy; removes files that killed processes left."""
        found = []
        with os.scandir(self.folder) as items:
            for item in items:
                with suppress(FileNotFoundError):
                    info = item.stat()
                    if item.name.startswith(_HALF_WRITTEN):
                        if time.time() - info.st_mtime > _ABANDONED_SECONDS:
                            Path(item.path).unlink(missing_ok=True)
                    elif item.name != _LOCK:
                        found.append((info.st_mtime, info.st_size, item.path))
        return found
