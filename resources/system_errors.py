"""Errors of the system with the operation and the file or folder that they concern.

The system names a file only if it was given a path. Reading, writing, syncing and listing use descriptors, and their
errors only say `[Errno 5] Input/output error`.
"""

import errno
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from typing_extensions import override

from resources.errors import CorpusError, is_full, is_of_the_file

_WHILE = " while "
_NO_ROOM_AHEAD = {errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
_FEW_INODES, _MUCH_SPACE = 99, 1 << 20
"""What failed has removed its files by the time that inodes are counted, and a partition needs several."""


def placed(error: OSError, doing: str, place: str | Path) -> OSError:
    """Returns an error of the same class and number that names the operation and the file or folder.

    Errors that name them already, and errors of libraries about content, which have no number, are returned unchanged.
    """
    if error.errno is None or isinstance(error, CorpusError) or _WHILE in str(error.strerror):
        return error
    return type(error)(error.errno, f"{error.strerror}{_WHILE}{doing}", str(place))


@contextmanager
def at(doing: str, place: str | Path) -> Iterator[None]:
    """Makes errors of the system name the operation and the file or folder."""
    try:
        yield
    except OSError as error:
        raise placed(error, doing, place) from None


def raise_machine_error(error: BaseException, doing: str, place: str | Path) -> None:
    """Raises an error of the system, with its place, if it says something about the machine and not about the file."""
    if isinstance(error, OSError) and not is_of_the_file(error):
        raise placed(error, doing, place) from None


class PlacedFile(io.FileIO):
    """An unbuffered file whose errors say which it is. shown: its place as errors name it, by default its path.

    path: the path of the file, or a descriptor of it, which has to have a place to show.
    """

    def __init__(self, path: str | Path | int, mode: str, shown: str | Path | None = None) -> None:
        self.shown = shown or str(path)
        with at("opening", self.shown):
            super().__init__(path, mode)

    @override
    def read(self, size: int | None = -1, /) -> Any:
        with at("reading", self.shown):
            return super().read(-1 if size is None else size)

    @override
    def readall(self) -> Any:
        with at("reading", self.shown):
            return super().readall()

    @override
    def readinto(self, buffer: Any, /) -> Any:
        with at("reading", self.shown):
            return super().readinto(buffer)

    @override
    def write(self, content: Any, /) -> Any:
        with at("writing", self.shown):
            return super().write(content)

    @override
    def truncate(self, size: int | None = None, /) -> int:
        with at("cutting", self.shown):
            return super().truncate(size)

    @override
    def close(self) -> None:
        with at("closing", self.shown):
            super().close()


def open_placed(path: str | Path, shown: str | Path | None = None) -> BinaryIO:
    """Opens a file for reading, with a buffer; its errors name it. shown: see `PlacedFile`."""
    return cast(BinaryIO, io.BufferedReader(PlacedFile(path, "r", shown)))


def new_placed(path: str | Path | int, shown: str | Path | None = None) -> BinaryIO:
    """Makes an empty file for writing and reading, with a buffer; its errors name it. path, shown: see `PlacedFile`."""
    return cast(BinaryIO, io.BufferedRandom(PlacedFile(path, "w+", shown)))


def make_room(file: BinaryIO, size: int, place: str | Path = "") -> None:
    """Gives an empty file its size, and has the disk keep room for it where the file system can.

    For files that are written through maps into memory: there a full disk would end the process by a signal. place: of
    the file, for an error of the system; by default the one that its own errors name.
    """
    file.flush()
    with at("making room for", place or getattr(getattr(file, "raw", None), "shown", file.name)):
        os.ftruncate(file.fileno(), size)
        if size and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, size)
            except OSError as error:
                if error.errno not in _NO_ROOM_AHEAD:
                    raise


def has_place(error: OSError) -> bool:
    """Returns whether an error names the file or folder that it is of."""
    return isinstance(error, CorpusError) or error.filename is not None


def error_words(error: BaseException) -> str:
    """Returns an error in words. One of the system begins with its place: `/data/a.gz: Input/output error`."""
    if isinstance(error, OSError) and not isinstance(error, CorpusError) and has_place(error):
        other = f" -> {error.filename2}" if error.filename2 is not None else ""
        return f"{os.fsdecode(error.filename)}{other}: {error.strerror}"
    return str(error)


def advice(error: BaseException, *given: str) -> str:
    """Returns advice if there was no room to write, else nothing.

    given: where files are written, besides the folder for temporary files. A file system without free inodes refuses
    new files with the same error number as a full one.
    """
    if not is_full(error):
        return ""
    places = [*given, *_temporary()]
    named = error.filename if isinstance(error, OSError) else None
    kept = "and build again: what was committed is kept"
    for place in dict.fromkeys(str(place) for place in (*([] if named is None else [os.fsdecode(named)]), *places)):
        free, inodes = _room(Path(place))
        if inodes is not None and free and inodes <= (_FEW_INODES if free > _MUCH_SPACE else 0):
            left = f"only {inodes} inodes" if inodes else "no inodes"
            lacks = f"{left} are left on the file system of {place}, though it has {_size(free)} of free space"
            return f"; {lacks}: remove files there, whatever their size, {kept}"
    rooms = ", ".join(f"{place}: {_room_words(*_room(Path(place)))}" for place in places)
    return f"; free space where files are written ({' and '.join(places)}) {kept} ({rooms})"


def _temporary() -> Iterator[str]:
    with suppress(OSError):  # There is no temporary folder if no folder is writable.
        yield tempfile.gettempdir()


def _room(place: Path) -> tuple[int | None, int | None]:
    """Returns the free bytes and inodes where a path is or would be; None where the system does not say."""
    for folder in (place, *place.parents):
        with suppress(OSError):
            found = os.statvfs(folder)
            return found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None
    return None, None


def _room_words(free: int | None, inodes: int | None) -> str:
    if free is None:
        return "not to be looked at"
    return f"{_size(free)}{'' if inodes is None else f' and {inodes:,} inodes'} free"


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"
