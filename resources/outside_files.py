"""Files outside the store that the configuration names and that may be large: models, lists.

A recipe holds the digest of their content. Workers get their paths, and read them only if they still have that digest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import xxhash

from resources.errors import ConfigError, CorpusError
from resources.hashing import content_digest
from resources.raw_files import stamp

_BLOCK = 1 << 20
_MAX_FILES = 10_000


@dataclass(frozen=True)
class OutsideFile:
    """A file, or a folder of files, that the configuration names. path: for libraries that open it themselves."""

    path: str

    @property
    def name(self) -> str:
        """Its name without the folders above it, for messages."""
        return Path(self.path).name

    def open(self) -> BinaryIO:
        """Opens a file for reading."""
        return Path(self.path).open("rb")


def outside_digest(key: str, paths: Sequence[str]) -> str:
    """Returns the digest of what files, or folders of files, hold, whatever their names and order.

    A file is read once per process as long as its stamp stays. `ConfigError` names the configuration key if one cannot
    be read. key: the configuration key that names the files.
    """
    try:
        return content_digest(*sorted(_digest(Path(path)).encode() for path in paths))
    except OSError as error:
        name = error.filename or paths[0]
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
    if not path.is_dir():
        return _file_digest(path)
    parts = [part for file in _files_in(path) for part in (str(file.relative_to(path)), _file_digest(file))]
    return content_digest(*(part.encode("utf-8", "surrogateescape") for part in parts))


def _files_in(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if not path.is_dir())
    if not found or len(found) > _MAX_FILES:
        raise _NoFileError(f"{str(folder)!r} is a folder of {len(found)} files; valid: 1 to {_MAX_FILES}")
    return found


def _file_digest(file: Path) -> str:
    info = file.stat()
    if not file.is_file():
        raise _NoFileError(f"{str(file)!r} is neither a regular file nor a folder")
    return _read_digest(str(file), info.st_size, stamp(info))


@lru_cache(maxsize=1 << 14)
def _read_digest(path: str, _size: int, _stamp: str) -> str:
    hasher = xxhash.xxh3_128()
    for block in _blocks(path):
        hasher.update(block)
    return hasher.hexdigest()


def _blocks(path: str) -> Iterator[bytes]:
    with Path(path).open("rb", buffering=0) as stream:
        while block := stream.read(_BLOCK):
            yield block
