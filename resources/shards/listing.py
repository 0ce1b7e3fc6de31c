"""Lists the raw files of a corpus; each file is one shard."""

import os
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from io import BytesIO
from typing import BinaryIO

from resources.errors import BadFileError, ConfigError, StoreAccessError
from resources.hashing import content_digest
from resources.outside.agreed import agreed_content
from resources.outside.stream import OutsideStream
from resources.raw_places import LocalFolder, RawPlace, SourceFolder, place_of
from resources.raw_places.files import FoundFile, glob_pattern, printable
from resources.raw_places.interface import NO_FILE, Group
from resources.shard_names import MAX_NAME, SUFFIXES, data_suffix, shard_name, with_hash
from resources.shards.left_out import Unread, hidden_folder, is_hidden, is_unread, unknown_suffix, why_hidden_folder

__all__ = [
    "MAX_NAME",
    "SUFFIXES",
    "Listing",
    "Shard",
    "SourceFolder",
    "data_suffix",
    "digest_together",
    "list_shards",
    "remembered_digest",
    "shard_name",
]

_UNREADABLE = "lists a file that cannot be read"
_LIST_BYTES = 256 << 20
"""At most so much of a text list is kept; its reader refuses longer ones."""


@dataclass(frozen=True)
class Shard:
    """One raw file.

    name: its path in the store (unique in its source).
    key: its partition key.
    modified: a token that changes when the file is rewritten, touched or replaced.
    members: the files that a text list names, or that are read together with the file, relative to its folder.
    lines: the lines of the list that name them.
    problem: why a file that exists cannot be read at all.
    place: where it lies, a folder of this machine by default.
    found: what the place says about the file itself, without the files that it lists.
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
    place: RawPlace | None = field(default=None, repr=False)
    found: FoundFile | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """The file as messages name it; always printable."""
        return f"{self.source}/{printable(self.path)}"

    @property
    def full_path(self) -> str:
        """The whole path or address of the file, for a person."""
        return self._place.address(self._found)

    @property
    def _place(self) -> RawPlace:
        return self.place or LocalFolder(self.location)

    @property
    def _found(self) -> FoundFile:
        return self.found or FoundFile(self.path, self.bytes, self.modified, self.problem)

    def is_among(self, sources: Sequence[str] | None, glob: str | Sequence[str] | None) -> bool:
        """Returns whether it is of some sources, and matches one of some patterns. None for all."""
        if sources is not None and self.source not in sources:
            return False
        globs = [glob] if isinstance(glob, str) else glob
        return globs is None or any(glob_pattern(one).fullmatch(self.path) for one in globs)

    def open(self) -> BinaryIO:
        """Opens the raw bytes; `BadFileError` if that cannot be done, `StorageError` if its place cannot be asked."""
        if self.problem:
            raise BadFileError(self.label, self.problem)
        return self._place.open(self._found, self.label)

    def open_member(self, member: str) -> BinaryIO:
        """Opens a file that a text list names; it must lie below the source's folder."""
        (found,) = self._members([member])
        inside = f"{self.label} {self._line_of(member)}" if self.lines else f"{self.label} ({printable(member)})"
        return self._place.open(found, inside)

    def _members(self, names: Sequence[str]) -> list[FoundFile]:
        """Returns listed files as they are now; `BadFileError` if one is not a file below the source's folder."""
        found = self._place.members(self._found, names)
        for name, file in zip(names, found, strict=True):
            if file.problem:
                raise BadFileError(self.label, self._fault_of(name, file.problem))
        return found

    def _fault_of(self, member: str, problem: str) -> str:
        if self.members and not self.lines:
            return f"needs {printable(member)!r}, which {'is not there' if problem == NO_FILE else problem}"
        return f"{self._line_of(member)} {problem}"

    def _line_of(self, member: str) -> str:
        """Returns the line of a listed file. Messages name only the line: a list may be any file, by mistake or not."""
        known = dict(zip(self.members, self.lines, strict=True))
        return f"line {known[member]}" if member in known else "a path that it does not list"

    def changed(self) -> bool:
        """Returns whether the file, or a file that it names, changed since it was listed.

        False for files that are always opened in the version that was listed.
        """
        try:
            return self.stamped() != (self.bytes, self.modified)
        except (BadFileError, OSError):
            return True

    def stamped(self) -> tuple[int, str]:
        """Returns size and modification token as they are now, together with those of the files that it lists."""
        return self._place.stamped(self._found, self._members(self.members) if self.members else ())

    def seen(self) -> dict[str, int | str]:
        """Returns size and modification token, from which the plan knows without reading whether the file changed.

        For a repository the commit is included.
        """
        seen: dict[str, int | str] = {"bytes": self.bytes, "modified": self.modified}
        return {**seen, "commit": self._found.commit} if self._found.commit else seen

    def is_as(self, seen: Mapping[str, object]) -> bool:
        """Returns whether size and modification token are those that were recorded with `seen`."""
        return self.bytes == seen.get("bytes") and self.modified == seen.get("modified")

    def path_digest(self) -> str:
        """Returns the digest of the file's path, which may hold any bytes."""
        return content_digest(os.fsencode(self.path))

    def digest(self) -> str:
        """Returns the xxh3-128 of the raw bytes, members included."""
        members = ((member, _stream_digest(self.open_member(member))) for member in self.members)
        return digest_together(_stream_digest(self.open()), members)


@dataclass(frozen=True)
class Listing:
    """The raw files that exist now: shards in canonical order (source order, then key).

    ignored: files that were left out, each with the reason.
    empty: sources without a file.
    unread: other files in the folder of a source that may have been meant as data.
    """

    shards: tuple[Shard, ...]
    ignored: tuple[tuple[str, str], ...]
    empty: tuple[str, ...] = ()
    unread: Mapping[str, Unread] = field(default_factory=dict)

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
    unread: dict[str, Unread] = {}
    owners: dict[str, SourceFolder] = {}
    for folder in folders:
        found = list(_files(folder, ignored, unread))
        if folder.what == "source":
            _require_own(folder, found, owners)
        groups = [Group(file, file.path) for file in found]
        if folder.grouping is not None:
            groups = list(folder.grouping(found, partial(_content_of, folder)))
            ignored += _in_no_group(folder, found, groups)
        if not groups:
            empty.append(f"{folder.what} {folder.name}")
        shards += sorted(_named(folder, groups, members), key=lambda shard: shard.key)
    _require_different_keys(shards)
    return Listing(tuple(shards), tuple(ignored), tuple(empty), unread)


def _require_own(folder: SourceFolder, found: Sequence[FoundFile], owners: dict[str, SourceFolder]) -> None:
    """Raises `ConfigError` for a file of two sources: all of its documents would be duplicates."""
    for file, identity in zip(found, place_of(folder).identities(found), strict=True):
        if (other := owners.setdefault(identity, folder)) is not folder:
            raise ConfigError(
                f"sources {other.name} and {folder.name} both take {printable(file.path)!r} in {folder.location!r}; "
                "give them different locations, or globs that share no file"
            )


def _require_different_keys(shards: Iterable[Shard]) -> None:
    """Raises `ConfigError` for two files with one key: the second would replace the first in the store."""
    known: dict[str, Shard] = {}
    for shard in shards:
        if (other := known.setdefault(shard.key, shard)) is not shard:
            raise ConfigError(
                f"{other.label} and {shard.label} would share the partition key {shard.key}; rename one of them"
            )


def _files(folder: SourceFolder, ignored: list[tuple[str, str]], unread: dict[str, Unread]) -> Iterator[FoundFile]:
    hidden = Counter[str]()
    for found in place_of(folder).files(folder, ignored):
        if not folder.hidden and (parent := hidden_folder(found.path)) is not None:
            hidden[parent] += 1
        elif why := _left_out(found, folder):
            ignored.append((f"{folder.name}/{printable(found.path)}", why))
            if is_unread(found) and not is_hidden(found.path):
                unread[folder.name] = unread.get(folder.name, Unread()).and_one(found)
        else:
            yield found
    for parent, files in sorted(hidden.items()):
        ignored.append((f"{folder.name}/{printable(parent)}/", why_hidden_folder(parent, files)))


def _left_out(found: FoundFile, folder: SourceFolder) -> str | None:
    """Returns why a file does not belong to a source; None if it does."""
    if is_hidden(found.path) and not folder.hidden:
        return "hidden file"
    if folder.format != "auto":
        return None
    suffix = data_suffix(found.path)
    if suffix is None:
        return unknown_suffix()
    return dict(folder.passes_over).get(suffix.lower())


def _in_no_group(
    folder: SourceFolder, found: Iterable[FoundFile], groups: Iterable[Group]
) -> Iterator[tuple[str, str]]:
    used = {path for group in groups for path in (group.first.path, *(_beside(group, name) for name in group.members))}
    for path in (file.path for file in found if file.path not in used):
        yield f"{folder.name}/{printable(path)}", f"no part of a dataset with format {folder.format}"


def _beside(group: Group, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(group.first.path), name))


def _content_of(folder: SourceFolder, file: FoundFile) -> bytes:
    """Returns the content of a file that says which files are read together."""
    shard = Shard("", folder.name, "", folder.location, file.path, file.bytes, file.modified, place=place_of(folder))
    opened = replace(shard, found=file, problem=file.problem)
    return agreed_content(opened.label, opened, opened.open, _LIST_BYTES)


def _named(folder: SourceFolder, groups: list[Group], members: Members) -> Iterator[Shard]:
    names = [shard_name(group.name) for group in groups]
    taken, place = Counter(names), place_of(folder)
    for group, plain in zip(groups, names, strict=True):
        file = group.first
        name = plain if taken[plain] == 1 else with_hash(plain, file.path)
        shard = Shard(
            f"{folder.name}--{name.replace('/', '--')}",
            folder.name,
            name,
            folder.location,
            file.path,
            file.bytes,
            file.modified,
            group.members,
            problem=group.problem or file.problem,
            place=place,
            found=file,
        )
        if folder.format == "txt_list":
            yield _with_members(shard, members)
        else:
            yield _stamped(shard) if group.members and not shard.problem else shard


def _with_members(shard: Shard, members: Members) -> Shard:
    """Returns a text list with its members."""
    try:
        found = members(shard.label, partial(_list_of, shard))
    except BadFileError as error:
        return replace(shard, problem=error.problem)
    except StoreAccessError:
        raise
    except OSError as error:
        return replace(shard, problem=f"{_UNREADABLE}: {error.strerror}")
    paths, lines = (path for _, path in found), (line for line, _ in found)
    return _stamped(replace(shard, members=tuple(paths), lines=tuple(lines)))


def _stamped(shard: Shard) -> Shard:
    """Returns a shard whose size and modification token cover its members."""
    try:
        size, modified = shard.stamped()
    except BadFileError as error:
        return replace(shard, members=(), lines=(), problem=error.problem)
    except StoreAccessError:
        raise
    except OSError as error:
        return replace(shard, members=(), lines=(), problem=f"{_UNREADABLE}: {error.strerror}")
    return replace(shard, bytes=size, modified=modified)


def digest_together(own: str, members: Iterable[tuple[str, str]]) -> str:
    """Returns the digest of a file together with the files that it lists.

    members: their names and digests, in the order of the list.
    own: the digest of the file itself, which is returned if it lists nothing.
    """
    parts = [own, *(f"{name} {digest}" for name, digest in members)]
    return own if len(parts) == 1 else content_digest(*(part.encode() for part in parts))


def _list_of(shard: Shard) -> BinaryIO:
    """Opens a text list that has no recorded digest yet."""
    return BytesIO(agreed_content(shard.label, shard, shard.open, _LIST_BYTES))


def _stream_digest(file: BinaryIO) -> str:
    with closing(OutsideStream(file)) as stream:
        return stream.drained()
