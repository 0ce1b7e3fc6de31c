"""A folder of this machine, or one mounted there."""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from resources.errors import ConfigError, StorageError, file_fault, is_of_the_machine
from resources.outside.hidden import shown_address
from resources.outside.looking import is_file, is_folder, real_path
from resources.raw_places.files import FoundFile, printable, stamp, walk
from resources.raw_places.interface import LEAVES, NO_FILE, NO_PATH, SourceFolder
from resources.system_errors import open_placed

_OF_THE_PATH = {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EINVAL}
_VARIABLE = re.compile(r"\$(?:\{[A-Za-z_]\w*\}|[A-Za-z_]\w*)")


@dataclass(frozen=True)
class LocalFolder:
    """Raw files below a folder (a `RawPlace`)."""

    location: str

    def files(self, folder: SourceFolder, ignored: list[tuple[str, str]]) -> list[FoundFile]:
        """Returns every file that a glob wants."""
        top, where = Path(self.location), folder.key or f"sources.{folder.name}"
        try:
            there = is_folder(top)
        except OSError as error:
            raise StorageError(
                f"{where}.location: {shown_address(self.location)} cannot be looked at: {error.strerror}"
            ) from None
        if not there:
            raise ConfigError(f"{where}.location: {shown_address(self.location)} {_no_folder(top)}")
        return list(walk(top, folder.name, folder.globs, ignored, follow_links=folder.follow_links))

    def open(self, file: FoundFile, label: str) -> BinaryIO:
        """Opens a file as it is now; the reader checks afterwards whether it changed meanwhile."""
        try:
            return open_placed(Path(self.location, file.path))
        except OSError as error:
            raise file_fault(label, error) from None

    def members(self, file: FoundFile, names: Sequence[str]) -> list[FoundFile]:
        """Returns the files that a text list names, by their absolute paths."""
        return [self._member(file, name) for name in names]

    def _member(self, file: FoundFile, name: str) -> FoundFile:
        try:
            path = real_path(Path(self.location, file.path).parent.joinpath(name))
            inside = path.is_relative_to(real_path(self.location))
            there = inside and is_file(path)
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and is_of_the_machine(error) and error.errno not in _OF_THE_PATH:
                raise StorageError(f"{printable(name)}: cannot be looked at now: {error.strerror}") from None
            return FoundFile(name, 0, "0", NO_PATH)
        if not there:
            return FoundFile(name, 0, "0", NO_FILE if inside else LEAVES)
        return FoundFile(str(path), 0, "", None)

    def stamped(self, file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
        """Returns size and token of a file and its members as they are now; `OSError` if one cannot be looked at."""
        info = Path(self.location, file.path).stat()
        found = [Path(member.path).stat() for member in members]
        return info.st_size + sum(one.st_size for one in found), stamp(info, found)

    def address(self, file: FoundFile) -> str:
        """Returns the path of a file."""
        return f"{self.location}/{file.path}"

    def identities(self, files: Iterable[FoundFile]) -> Iterator[str]:
        """Yields the paths of files without links above the folder."""
        top = real_path(self.location)
        yield from (str(top / file.path) for file in files)


def _no_folder(top: Path) -> str:
    """Returns in words what is at a place where a folder should be."""
    if not os.path.lexists(top):
        unset = " and ".join(match[0] for match in _VARIABLE.finditer(str(top)))
        hint = f" ({unset} stands for nothing: no such variable is set)" if unset else ""
        return f"is not there; valid is a folder that exists{hint}"
    if top.is_file():
        return f"is not a folder but a file; valid: its folder, with `glob: {top.name}`"
    return "is not a folder"
