"""Files outside the store that the configuration names and that may be large: models, lists.

A recipe holds the digest of their content. Workers get their paths, and read them only if they still have that digest.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from tempfile import TemporaryDirectory
from typing import BinaryIO, cast

from typing_extensions import override

from resources.errors import ConfigError, CorpusError, StorageError, require_of_the_file
from resources.hashing import content_digest
from resources.outside.agreed import MisreadError, agreed_digest
from resources.outside.looking import files_below, is_folder
from resources.outside.stream import BLOCK, OtherBytesError, OutsideStream
from resources.raw_places.files import stamp

_MAX_FILES = 10_000


@dataclass(frozen=True)
class OutsideFile:
    """A file, or a folder of files, that the configuration names. path: where it is, for messages."""

    path: str

    @property
    def name(self) -> str:
        """Its name without the folders above it, for messages."""
        return Path(self.path).name

    def names(self) -> list[str]:
        """Returns the names of what is in a folder, sorted; `OSError` if it cannot be listed."""
        return sorted(path.name for path in Path(self.path).iterdir())

    def open(self) -> BinaryIO:
        """Opens a file for reading; closing raises a `StorageError` if what was read is not what the file holds."""
        return cast(BinaryIO, _Compared(Path(self.path)))

    def read(self, limit: int) -> bytes:
        """Returns the content of a file; of a longer one than `limit`, one byte over it; errors as of `open`."""
        with self.open() as stream:
            return stream.read(limit + 1)

    @contextmanager
    def copied(self) -> Iterator[str]:
        """Gives the path of a copy of the file or folder, for libraries that open paths; removes it afterwards.

        The copy is checked like a file that is read, and takes as much room in the folder for temporary files.
        """
        original = Path(self.path)
        with TemporaryDirectory(prefix="corpus-outside-") as folder:
            copy = Path(folder, original.name)
            whole = is_folder(original)
            if whole:
                copy.mkdir()
            for file in files_below(original) if whole else [original]:
                target = copy / file.relative_to(original)
                target.parent.mkdir(parents=True, exist_ok=True)
                with OutsideFile(str(file)).open() as source, target.open("wb") as out:
                    shutil.copyfileobj(source, out, BLOCK)
            yield str(copy)


class _Compared(OutsideStream):
    """A stream over a file that compares, when it is closed, what passed with the digest of the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path.open("rb"))
        self._path = path

    @override
    def close(self) -> None:
        if self.closed:
            return
        try:
            if isinstance(self.fault, OSError) and not isinstance(self.fault, OtherBytesError):
                raise StorageError(f"{self._path}: cannot be read now: {self.fault.strerror}")
            if self.fault is not None or self.drained() != _file_digest(self._path):
                raise MisreadError(str(self._path))
        finally:
            super().close()


def outside_digest(key: str, paths: Sequence[str]) -> str:
    """Returns the digest of the contents of files, or folders of files, whatever their names and order.

    A file is read once per process as long as its stamp stays. `ConfigError` names the configuration key if one cannot
    be read, `StorageError` if the machine cannot read it now. key: the configuration key that names the files.
    """
    try:
        return content_digest(*sorted(_digest(Path(path)).encode() for path in paths))
    except OSError as error:
        name = error.filename or paths[0]
        require_of_the_file(f"{key}: {str(name)!r}", error)
        raise ConfigError(f"{key}: {str(name)!r} cannot be read: {error.strerror}") from None
    except _NoFileError as error:
        raise ConfigError(f"{key}: {error}") from None


def require_digest(key: str, paths: Sequence[str], digest: str) -> None:
    """Raises `CorpusError` if files changed since the plan was made."""
    if outside_digest(key, paths) != digest:
        raise CorpusError(f"{key}: {', '.join(paths)} changed since the build began; build again")


class _NoFileError(Exception):
    """A path leads to something that cannot be digested."""


def _digest(path: Path) -> str:
    if not is_folder(path):
        return _file_digest(path)
    parts = [part for file in _files_in(path) for part in (str(file.relative_to(path)), _file_digest(file))]
    return content_digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _files_in(folder: Path) -> list[Path]:
    found = files_below(folder)
    if not found or len(found) > _MAX_FILES:
        raise _NoFileError(f"{str(folder)!r} is a folder of {len(found)} files; valid: 1 to {_MAX_FILES}")
    return found


def _file_digest(file: Path) -> str:
    info = file.stat()
    if not S_ISREG(info.st_mode):
        raise _NoFileError(f"{str(file)!r} is neither a regular file nor a folder")
    return agreed_digest(str(file), (str(file), stamp(info)), lambda: file.open("rb"))
