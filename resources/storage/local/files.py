"""Files of a folder as a store reads them, and folders that a power cut does not take."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from resources.errors import StorageError
from resources.system_errors import at, placed

_NO_SYNC = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def place_of(root: Path, path: str) -> str:
    """Returns where a stored file lies; `StorageError` when `path` would leave the root."""
    # Without pathlib, in which a stage that reads a little of thousands of files would spend half its time.
    if path.startswith("/") or ".." in path.split("/"):
        raise StorageError(f"{path!r}: a stored path is relative and has no '..'")
    return f"{root}/{path}"


def make_folder(folder: Path, root: Path, *, sync: bool) -> None:
    """Makes a folder of a store and its parents; with `sync` each is durable in its parent."""
    with at("looking at", folder):
        if folder.is_dir():
            return
    if folder != root:
        make_folder(folder.parent, root, sync=sync)
    with at("making the folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
    if sync:
        sync_folder(folder.parent)


def read_part(place: str, offset: int, size: int) -> bytes:
    """Returns bytes of a file from `offset` on, fewer only at its end."""
    # Without a file object, because a chunk reads a little of each of thousands of files.
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return _read(descriptor, offset, size)
    finally:
        os.close(descriptor)


def read_small(place: str, size: int) -> bytes:
    """Returns the first `size` bytes of a file, and one more if it has more."""
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


def paths_in(folder: Path) -> list[Path]:
    """Returns what is in a folder, in order of name; nothing if there is no such folder.

    `Path.glob` would leave out what may not be listed and, from Python 3.12 on, what cannot be listed.
    """
    with suppress(FileNotFoundError, NotADirectoryError), at("listing", folder):
        return sorted(folder.iterdir())
    return []


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    with at("opening the folder", folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor, "syncing the folder", folder)
    finally:
        os.close(descriptor)


def sync(descriptor: int, doing: str, place: Path) -> None:
    """Makes an open file durable; `StorageError` with advice where the file system cannot."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise placed(error, doing, place) from None
        raise StorageError(
            f"{place}: this file system does not sync ({error.strerror}), so a power cut may cost what was committed; "
            "put storage.root on one that does, or set storage.sync: false"
        ) from None
