"""Files of one partition while they are written.

They are written under `.tmp/`, synced, and renamed into place when all files of their partition are complete.
"""

from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from typing_extensions import override

from resources.storage.interface import Unpublished
from resources.storage.local import files
from resources.storage.local.writers import new_name
from resources.stored_digest import WrittenFile
from resources.system_errors import at, new_placed, open_placed, placed
from resources.tidying import remove_folder

TEMPORARY = ".tmp"


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
                return self._made_durable(again.fileno(), sync=sync)
        self.handle.flush()
        digest = self._made_durable(self.raw.descriptor, sync=sync)
        self.handle.close()
        return digest

    def _made_durable(self, descriptor: int, *, sync: bool) -> str:
        digest = self.raw.stored_digest(descriptor)
        if sync:
            files.sync(descriptor, "syncing", self.target)
        return digest


class LocalUnpublished(Unpublished):
    """Files of one partition under `.tmp/<host>@<place>-<ticks>.<pid>.<nonce>/`, renamed into place by `publish`."""

    def __init__(self, root: Path, *, sync: bool) -> None:
        self._root = root
        self._sync = sync
        self._folder = root / TEMPORARY / new_name()
        self._has_folder = False
        self._files: list[_Created] = []
        self._digests: dict[str, str] = {}
        self._scratch: list[BinaryIO] = []

    def _target(self, path: str) -> Path:
        return Path(files.place_of(self._root, path))

    def _make_folder(self, folder: Path) -> None:
        files.make_folder(folder, self._root, sync=self._sync)

    def _new(self) -> Path:
        if not self._has_folder:
            self._make_folder(self._root)
            with at("making the folder", self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
            self._has_folder = True
        return self._folder / str(len(self._files) + len(self._scratch))

    @override
    def create(self, path: str) -> BinaryIO:
        target, temporary = self._target(path), self._new()
        raw, handle = WrittenFile.opened(temporary, target)
        self._files.append(_Created(path, raw, handle, temporary, target))
        return handle

    @override
    def replaced(self, path: str) -> bool:
        place = self._target(path)
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
                self._digests[file.path] = file.complete(sync=self._sync)
        for folder in {file.target.parent for file in self._files}:
            self._make_folder(folder)

    @override
    def publish(self) -> None:
        self.prepare()
        folders = {file.target.parent for file in self._files}
        for file in self._files:
            with at("renaming a written file to", file.target):
                file.temporary.replace(file.target)
        if self._sync:
            for folder in folders:
                files.sync_folder(folder)
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
