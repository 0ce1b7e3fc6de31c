"""Lists the raw files of a corpus; each file is one shard."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import xxhash

from resources.errors import BadFileError, ConfigError, StorageError, file_fault
from resources.hashing import content_digest
from resources.raw_files import FoundFile, printable, same_stamp, stamp, walk
from resources.shard_names import MAX_NAME, SUFFIXES, data_suffix, shard_name, with_hash

__all__ = [
    "MAX_NAME",
    "SUFFIXES",
    "Listing",
    "Shard",
    "SourceFolder",
    "data_suffix",
    "list_shards",
    "remembered_digest",
    "shard_name",
]

_BLOCK = 1 << 20


@dataclass(frozen=True)
class SourceFolder:
    """The folder of one source's raw files, and the patterns of the files below it that belong to the source.

    `key`: the key of corpus.yaml that names the folder, for messages. `what`: `source`, or `dataset` for its own files.
    `follow_links`: read files outside the folder to which links in it lead.
    """

    name: str
    location: str
    globs: tuple[str, ...]
    format: str
    key: str = ""
    what: str = "source"
    follow_links: bool = False


@dataclass(frozen=True)
class Shard:
    """One raw file. `name` is its path in the store (unique in its source), `key` its partition key.

    `modified` is a token that changes when the file is rewritten, touched or replaced. `members` are the files that a
    text list names, relative to the list, and `lines` where it names them. A file that exists but cannot be read at all
    carries its `problem`.
    """

    key: str
    source: str
    name: str
    location: str
    path: str
    bytes: int
    modified: str
    members: tuple[str, ...] = ()
    problem: str | None = None
    lines: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The file as messages name it; always printable."""
        return f"{self.source}/{printable(self.path)}"

    def open(self) -> BinaryIO:
        """Opens the raw bytes; `BadFileError` if the file cannot be opened."""
        if self.problem:
            raise BadFileError(self.label, self.problem)
        return _open(Path(self.location, self.path), self.label)

    def open_member(self, member: str) -> BinaryIO:
        """Opens a file that a text list names; it must lie below the source's folder."""
        path = self.member_path(member)
        try:
            return path.open("rb")
        except OSError as error:
            raise file_fault(f"{self.label} {self._line_of(member)}", error) from None

    def member_path(self, member: str) -> Path:
        """Returns the path of a listed file; `BadFileError` if it is not a file below the source's folder."""
        try:
            path = Path(self.location, self.path).parent.joinpath(member).resolve()
            inside = path.is_relative_to(Path(self.location).resolve())
            is_file = inside and path.is_file()
        except (OSError, RuntimeError, ValueError):
            raise BadFileError(self.label, f"{self._line_of(member)} is no path that can be read") from None
        if not inside:
            raise BadFileError(self.label, f"{self._line_of(member)} leaves the source's folder")
        if not is_file:
            raise BadFileError(self.label, f"{self._line_of(member)} names no file")
        return path

    def _line_of(self, member: str) -> str:
        """Returns the line of a listed file. Messages say no more of it: a list may be any file, by mistake or not."""
        known = dict(zip(self.members, self.lines, strict=True))
        return f"line {known[member]}" if member in known else "a path that it does not list"

    def changed(self) -> bool:
        """Returns whether the file, or a file that it names, changed on disk since it was listed."""
        try:
            size, modified = _size_and_stamp(self)
        except (BadFileError, OSError):
            return True
        return (size, modified) != (self.bytes, self.modified)

    def seen(self) -> dict[str, int | str]:
        """Returns size and modification token, by which the plan knows without reading whether the file changed."""
        return {"bytes": self.bytes, "modified": self.modified}

    def is_as(self, seen: Mapping[str, object]) -> bool:
        """Returns whether size and modification token are those that were recorded with `seen`."""
        return self.bytes == seen.get("bytes") and same_stamp(seen.get("modified"), self.modified)

    def path_digest(self) -> str:
        """Returns the digest of the file's path, which may hold any bytes."""
        return content_digest(os.fsencode(self.path))

    def digest(self) -> str:
        """Returns the xxh3-128 of the raw bytes, members included."""
        digests = [_stream_digest(self.open())]
        digests += [f"{member} {_stream_digest(self.open_member(member))}" for member in self.members]
        return digests[0] if len(digests) == 1 else content_digest(*(digest.encode() for digest in digests))


@dataclass(frozen=True)
class Listing:
    """The raw files that are there now: shards in canonical order (source order, then key).

    ignored: files that were left out, each with the reason. empty: sources without a file.
    """

    shards: tuple[Shard, ...]
    ignored: tuple[tuple[str, str], ...]
    empty: tuple[str, ...] = ()

    def keys(self, sources: Iterable[str] | None = None) -> list[str]:
        """Returns shard keys in canonical order; with `sources`, only theirs."""
        wanted = None if sources is None else set(sources)
        return [shard.key for shard in self.shards if wanted is None or shard.source in wanted]

    def notes(self) -> list[str]:
        """Returns sentences for a person: sources without a file, and files that were left out, with the reason."""
        none = [f"{name} has no raw files" for name in self.empty]
        return none + [f"{label}: {why}" for label, why in self.ignored]

    def by_key(self) -> dict[str, Shard]:
        """Returns the shards by partition key."""
        return {shard.key: shard for shard in self.shards}


@lru_cache(maxsize=1 << 16)
def remembered_digest(shard: Shard) -> str:
    """Returns the digest of a raw file, which is read once per process as long as its modification token stays.

    Empty if the file cannot be read.
    """
    try:
        return shard.digest()
    except BadFileError:
        return ""


Members = Callable[[str, Callable[[], BinaryIO]], list[tuple[int, str]]]


def list_shards(folders: Iterable[SourceFolder], members: Members) -> Listing:
    """Returns the raw files in the folders of all sources. `members(label, open)` reads lines and paths in a text list.

    `ConfigError` names two files that would have one key, and a file that two sources take. `StorageError` names a
    folder that cannot be listed.
    """
    shards: list[Shard] = []
    ignored: list[tuple[str, str]] = []
    empty: list[str] = []
    owners: dict[Path, SourceFolder] = {}
    for folder in folders:
        found = list(_files(folder, ignored))
        if not found:
            empty.append(f"{folder.what} {folder.name}")
        if folder.what == "source":
            _require_own(folder, found, owners)
        shards += sorted(_named(folder, found, members), key=lambda shard: shard.key)
    _require_different_keys(shards)
    return Listing(tuple(shards), tuple(ignored), tuple(empty))


def _require_own(folder: SourceFolder, found: Iterable[FoundFile], owners: dict[Path, SourceFolder]) -> None:
    """Raises `ConfigError` for a file that belongs to an earlier source too: its documents would all be duplicates."""
    top = Path(folder.location).resolve()
    for file in found:
        if (other := owners.setdefault(top / file.path, folder)) is not folder:
            raise ConfigError(
                f"sources {other.name} and {folder.name} both take {printable(file.path)!r} in {folder.location!r}; "
                "give them different locations, or globs that share no file"
            )


def _require_different_keys(shards: Iterable[Shard]) -> None:
    """Raises `ConfigError` for two files with one key, of which the second would replace the first in the store."""
    known: dict[str, Shard] = {}
    for shard in shards:
        if (other := known.setdefault(shard.key, shard)) is not shard:
            raise ConfigError(
                f"{other.label} and {shard.label} would share the partition key {shard.key}; rename one of them"
            )


def _files(folder: SourceFolder, ignored: list[tuple[str, str]]) -> Iterator[FoundFile]:
    top = Path(folder.location)
    where = folder.key or f"sources.{folder.name}"
    try:
        is_folder = top.is_dir()
    except OSError as error:
        raise StorageError(f"{where}.location: {folder.location!r} cannot be looked at: {error.strerror}") from None
    if not is_folder:
        raise ConfigError(f"{where}.location: {folder.location!r} is not a folder")
    for found in walk(top, folder.name, folder.globs, ignored, follow_links=folder.follow_links):
        label = f"{folder.name}/{printable(found.path)}"
        if found.path.rpartition("/")[2].startswith("."):
            ignored.append((label, "hidden file"))
        elif folder.format == "auto" and data_suffix(found.path) is None:
            ignored.append((label, f"unknown suffix; known are {' '.join(sorted(SUFFIXES))}"))
        else:
            yield found


def _named(folder: SourceFolder, found: list[FoundFile], members: Members) -> Iterator[Shard]:
    names = [shard_name(file.path) for file in found]
    taken = Counter(names)
    for file, plain in zip(found, names, strict=True):
        name = plain if taken[plain] == 1 else with_hash(plain, file.path)
        key = f"{folder.name}--{name.replace('/', '--')}"
        shard = Shard(key, folder.name, name, folder.location, file.path, file.bytes, file.modified, (), file.problem)
        yield _with_members(shard, members) if folder.format == "txt_list" else shard


def _with_members(shard: Shard, members: Members) -> Shard:
    """Returns a text list with its members; its size and modification token cover the files it names."""
    try:
        found = members(shard.label, shard.open)
        paths, lines = (path for _, path in found), (line for line, _ in found)
        listed = _replace(shard, members=tuple(paths), lines=tuple(lines))
        size, modified = _size_and_stamp(listed)
    except BadFileError as error:
        return _replace(shard, problem=error.problem)
    except OSError as error:
        return _replace(shard, problem=f"lists a file that cannot be read: {error.strerror}")
    return _replace(listed, bytes=size, modified=modified)


def _size_and_stamp(shard: Shard) -> tuple[int, str]:
    """Returns size and modification token of a file as it is now, together with those of the files that it lists."""
    info = Path(shard.location, shard.path).stat()
    members = [shard.member_path(member).stat() for member in shard.members]
    return info.st_size + sum(member.st_size for member in members), stamp(info, members)


def _replace(shard: Shard, **changes: object) -> Shard:
    return Shard(**{**shard.__dict__, **changes})


def _open(path: Path, label: str) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise file_fault(label, error) from None


def _stream_digest(file: BinaryIO) -> str:
    hasher = xxhash.xxh3_128()
    with file:
        while block := file.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()
