"""Lists the raw files of a corpus; each file is one shard."""

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from io import BytesIO
from typing import BinaryIO

from resources.errors import BadFileError, ConfigError, StoreAccessError, file_fault, is_of_the_file
from resources.outside.agreed import agreed_content
from resources.raw_places import SourceFolder, place_of
from resources.raw_places.data_suffixes import SUFFIXES, data_suffix
from resources.raw_places.files import FoundFile, printable
from resources.raw_places.interface import Group
from resources.shard_names import MAX_NAME, shard_name, with_hash
from resources.shards.left_out import Unknown, Unread, hidden_folder, is_hidden, is_unread, why_hidden_folder
from resources.shards.shard import Shard, digest_together

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

_LIST_BYTES = 256 << 20
"""At most so much of a text list is kept; its reader refuses longer ones."""


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
    hidden, unknown = Counter[str](), Unknown()
    for found in place_of(folder).files(folder, ignored):
        if not folder.hidden and (parent := hidden_folder(found.path)) is not None:
            hidden[parent] += 1
        elif why := _left_out(found, folder):
            ignored.append((f"{folder.name}/{printable(found.path)}", why))
        elif folder.format == "auto" and data_suffix(found.path) is None:
            if found.problem is None:
                unknown.add(found.path)
            else:  # Also a link of which nobody sees whether it leads to a folder.
                ignored.append((f"{folder.name}/{printable(found.path)}", f"{found.problem}; of unknown suffix"))
            if is_unread(found) and not is_hidden(found.path):
                unread[folder.name] = unread.get(folder.name, Unread()).and_one(found)
        else:
            yield found
    for label, why in unknown.notes():
        ignored.append((f"{folder.name}/{label}", why))
    for parent, files in sorted(hidden.items()):
        ignored.append((f"{folder.name}/{printable(parent)}/", why_hidden_folder(parent, files)))


def _left_out(found: FoundFile, folder: SourceFolder) -> str | None:
    """Returns why a file of a known suffix does not belong to a source; None if it does."""
    if is_hidden(found.path) and not folder.hidden:
        return "hidden file"
    suffix = data_suffix(found.path)
    if folder.format != "auto" or suffix is None:
        return None
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
        return replace(shard, problem=_unreadable(shard.label, error))
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
        return replace(shard, members=(), lines=(), problem=_unreadable(shard.label, error))
    return replace(shard, bytes=size, modified=modified)


def _unreadable(label: str, error: OSError) -> str:
    """Returns what is wrong with a list; `StorageError` if the machine failed, since a problem is a change."""
    if not is_of_the_file(error):
        raise file_fault(label, error) from None
    return f"lists a file that cannot be read: {error.strerror}"


def _list_of(shard: Shard) -> BinaryIO:
    """Opens a text list that has no recorded digest yet."""
    return BytesIO(agreed_content(shard.label, shard, shard.open, _LIST_BYTES))
