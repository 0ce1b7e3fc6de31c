"""Lists the raw files of a corpus; each file is one shard."""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import xxhash

from resources.errors import BadFileError, ConfigError, file_fault
from resources.hashing import content_digest

SUFFIXES = (".jsonl.zst.tar", ".jsonl.gz", ".jsonl.zst", ".json.gz", ".jsonl", ".parquet", ".txt")
MAX_NAME = 96
_BLOCK = 1 << 20


@dataclass(frozen=True)
class SourceFolder:
    """The folder of one source's raw files, and the patterns of the files below it that belong to the source.

    `key`: the key of corpus.yaml that names the folder, for messages. `what`: `source`, or `dataset` for its own files.
    """

    name: str
    location: str
    globs: tuple[str, ...]
    format: str
    key: str = ""
    what: str = "source"


@dataclass(frozen=True)
class Shard:
    """One raw file. `name` is its path in the store (unique in its source), `key` its partition key.

    `modified` is a token that changes when the file is rewritten or touched. `members` are the files that a text
    list names, relative to the list. A file that exists but cannot be read at all carries its `problem`.
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
        return _open(self.member_path(member), f"{self.label} -> {printable(member)}")

    def member_path(self, member: str) -> Path:
        """Returns the path of a listed file; `BadFileError` if it is not a file below the source's folder."""
        try:
            path = Path(self.location, self.path).parent.joinpath(member).resolve()
            inside = path.is_relative_to(Path(self.location).resolve())
        except (OSError, RuntimeError, ValueError) as error:
            raise BadFileError(self.label, f"lists {member!r}, which is no path: {error}") from None
        if not inside:
            raise BadFileError(self.label, f"lists {member!r}, which leaves the source's folder")
        if not path.is_file():
            raise BadFileError(self.label, f"lists {member!r}, which is no file")
        return path

    def changed(self) -> bool:
        """Returns whether the file, or a file that it names, changed on disk since it was listed."""
        try:
            info = Path(self.location, self.path).stat()
            size, modified = _with_member_sizes(self, info.st_size, str(info.st_mtime_ns))
        except (BadFileError, OSError):
            return True
        return (size, modified) != (self.bytes, self.modified)

    def seen(self) -> dict[str, int | str]:
        """Returns size and modification token, by which the plan knows without reading whether the file changed."""
        return {"bytes": self.bytes, "modified": self.modified}

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


Members = Callable[[str, Callable[[], BinaryIO]], list[str]]


def list_shards(folders: Iterable[SourceFolder], members: Members) -> Listing:
    """Returns the raw files in the folders of all sources. `members(label, open)` reads the paths in a text list."""
    shards: list[Shard] = []
    ignored: list[tuple[str, str]] = []
    empty: list[str] = []
    for folder in folders:
        found = list(_files(folder, ignored))
        if not found:
            empty.append(f"{folder.what} {folder.name}")
        shards += sorted(_named(folder, found, members), key=lambda shard: shard.key)
    return Listing(tuple(shards), tuple(ignored), tuple(empty))


@dataclass(frozen=True)
class _Found:
    path: str
    bytes: int
    modified: str
    problem: str | None


def _files(folder: SourceFolder, ignored: list[tuple[str, str]]) -> Iterator[_Found]:
    top = Path(folder.location)
    if not top.is_dir():
        where = folder.key or f"sources.{folder.name}"
        raise ConfigError(f"{where}.location: {folder.location!r} is not a folder")
    wanted = [_glob(pattern) for pattern in folder.globs]
    for found in _walk(top, folder.name, ignored):
        label = f"{folder.name}/{printable(found.path)}"
        name = found.path.rpartition("/")[2]
        if not any(pattern.fullmatch(found.path) for pattern in wanted):
            continue
        if name.startswith("."):
            ignored.append((label, "hidden file"))
        elif folder.format == "auto" and data_suffix(found.path) is None:
            ignored.append((label, f"unknown suffix; known are {' '.join(sorted(SUFFIXES))}"))
        else:
            yield found


def _walk(top: Path, source: str, ignored: list[tuple[str, str]]) -> Iterator[_Found]:
    """Yields every file below `top`; it does not follow links to folders, so it ends even if they form a loop."""
    folders = [""]
    while folders:
        relative = folders.pop()
        try:
            scan = os.scandir(top / relative)
        except OSError as error:
            ignored.append((f"{source}/{printable(relative)}", f"folder cannot be listed: {error.strerror}"))
            continue
        with scan:
            for item in scan:
                path = f"{relative}/{item.name}" if relative else item.name
                if item.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif item.is_symlink() and item.is_dir():
                    ignored.append((f"{source}/{printable(path)}", "link to a folder, not followed"))
                else:
                    yield _found(item, path)


def _found(item: "os.DirEntry[str]", path: str) -> _Found:
    try:
        info = item.stat()
    except OSError as error:
        return _Found(path, 0, "0", f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(info.st_mode):
        return _Found(path, info.st_size, str(info.st_mtime_ns), "not a regular file (a pipe, socket or device)")
    if not os.access(item.path, os.R_OK):
        return _Found(path, info.st_size, "unreadable", "cannot be read: permission denied")
    return _Found(path, info.st_size, str(info.st_mtime_ns), None)


def _named(folder: SourceFolder, found: list[_Found], members: Members) -> Iterator[Shard]:
    names = [shard_name(file.path) for file in found]
    taken = Counter(names)
    for file, plain in zip(found, names, strict=True):
        name = plain if taken[plain] == 1 else _with_hash(plain, file.path)
        key = f"{folder.name}--{name.replace('/', '--')}"
        shard = Shard(key, folder.name, name, folder.location, file.path, file.bytes, file.modified, (), file.problem)
        yield _with_members(shard, members) if folder.format == "txt_list" else shard


def _with_members(shard: Shard, members: Members) -> Shard:
    """Returns a text list with its members; its size and modification token cover the files it names."""
    try:
        listed = _replace(shard, members=tuple(members(shard.label, shard.open)))
        size, modified = _with_member_sizes(listed, shard.bytes, shard.modified)
    except BadFileError as error:
        return _replace(shard, problem=error.problem)
    except OSError as error:
        return _replace(shard, problem=f"lists {error.filename!r}: {error.strerror}")
    return _replace(listed, bytes=size, modified=modified)


def _with_member_sizes(shard: Shard, size: int, modified: str) -> tuple[int, str]:
    """Returns size and modification token of a shard together with those of the files that it lists."""
    if not shard.members:
        return size, modified
    infos = [shard.member_path(member).stat() for member in shard.members]
    token = content_digest(*(f"{info.st_size} {info.st_mtime_ns}".encode() for info in infos))
    return size + sum(info.st_size for info in infos), f"{modified}-{token[:16]}"


def _replace(shard: Shard, **changes: object) -> Shard:
    return Shard(**{**shard.__dict__, **changes})


def shard_name(path: str) -> str:
    """Returns the path of a shard in the store: the raw path without its data suffix, in `[a-z0-9._-/]` only.

    If that changes the path (other characters, `--`, too long), a hash of the raw path is appended, so that paths that
    differ in more than the suffix never share a name.
    """
    stem = path.removesuffix(path[len(path) - len(data_suffix(path) or "") :])
    *folders, last = (re.sub(r"[^a-z0-9._-]", "-", name.lower()) or "-" for name in stem.split("/"))
    # A folder with the name of one of our files would be in that file's place.
    plain = "/".join([*(name.replace(".", "-") if data_suffix(name) else name for name in folders), last])
    if plain == stem and "--" not in plain and len(plain) <= MAX_NAME and not plain.endswith((".", "-")):
        return plain
    return _with_hash(plain[:MAX_NAME].rstrip("/"), path)


def _with_hash(name: str, path: str) -> str:
    return f"{name}-{content_digest(os.fsencode(path))[:8]}"


def data_suffix(path: str) -> str | None:
    """Returns the data suffix as written in the path, or None if the path has none of the known ones."""
    lower = path.lower()
    known = next((suffix for suffix in SUFFIXES if lower.endswith(suffix)), None)
    return None if known is None else path[len(path) - len(known) :]


def printable(path: str) -> str:
    """Returns a path as text, with bytes that are not UTF-8 (kept as surrogates) and control characters escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _glob(pattern: str) -> re.Pattern[str]:
    """Returns a shell pattern over relative paths as a regular expression: `*` stays inside a folder, `**` does not."""
    out = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
        special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        out.append(special.get(token) or re.escape(token))
    return re.compile("".join(out), re.DOTALL)


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
