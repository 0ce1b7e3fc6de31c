"""Places of raw files: how files are listed and opened where they lie."""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from resources.hashing import content_digest
from resources.raw_places.files import FoundFile
from resources.storage.s3.client import S3Settings

LEAVES = "leaves the source's folder"
NO_FILE = "names no file"
NO_PATH = "is no path that can be read"


@dataclass(frozen=True)
class Group:
    """Files that are read together, as one shard.

    first: the file that stands for all.
    name: the path that gives the shard its name.
    members: the paths of the others, from the folder of the first.
    problem: why they cannot be read.
    """

    first: FoundFile
    name: str
    members: tuple[str, ...] = ()
    problem: str | None = None


Grouping = Callable[[Sequence[FoundFile], Callable[[FoundFile], bytes]], Iterable[Group]]
"""Returns the groups of files below a folder. It is given the files, and a function that reads a small one.

That function raises `BadFileError` for a file that cannot be read. Files that are in no group are passed over.
"""


@dataclass(frozen=True)
class SourceFolder:
    """The place of one source's raw files, and the patterns of the files that belong to the source.

    location: a folder of this machine, or an address.
    key: the key of corpus.yaml that names it, for messages.
    what: `source`, or `dataset` for its own files.
    follow_links: read files outside the folder to which links in it lead.
    s3: how an object store is reached.
    passes_over: with format `auto`, the suffixes of files that do not belong to it either, each with the reason.
    hidden: read hidden files and folders too.
    grouping: which files are read together; None: each is read by itself.
    """

    name: str
    location: str
    globs: tuple[str, ...]
    format: str
    key: str = ""
    what: str = "source"
    follow_links: bool = False
    s3: S3Settings = field(default_factory=S3Settings)
    passes_over: tuple[tuple[str, str], ...] = ()
    hidden: bool = False
    grouping: Grouping | None = None


class RawPlace(Protocol):
    """Where the raw files of a source lie.

    Hashable and picklable, so that workers on other machines can open files with it.
    """

    def __hash__(self) -> int: ...

    def files(self, folder: SourceFolder, ignored: list[tuple[str, str]]) -> list[FoundFile]:
        """Returns every file that a glob matches; `ignored` gets files that are left out, with the reason.

        `ConfigError` or `StorageError` if the place cannot be listed completely: a shorter listing would look like
        removed files.
        """

    def open(self, file: FoundFile, label: str) -> BinaryIO:
        """Opens a file for reading and seeking, in the version that was found, or not at all.

        `BadFileError` for a fault of the file, `StorageError` for one of its place. label: the file in messages.
        """

    def members(self, file: FoundFile, names: Sequence[str]) -> list[FoundFile]:
        """Returns the files that a text list names, as they are now, each with the problem that keeps it from reading.

        They must lie below the source's folder.
        """

    def stamped(self, file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
        """Returns size and modification token of a file together with those of the files that it lists.

        Places that open files in the version that was found do not look up the file itself again.
        """

    def address(self, file: FoundFile) -> str:
        """Returns the whole address of a file as a person names it, without anything secret."""

    def identities(self, files: Iterable[FoundFile]) -> Iterator[str]:
        """Yields an identity for each file, equal in all sources that contain the file."""


def member_path(file: FoundFile, name: str) -> FoundFile | str:
    """Returns the path that a text list names, from the source's folder; a file with a problem if it is invalid."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), name))
    if "\0" in name:
        return FoundFile(name, 0, "0", NO_PATH)
    if name.startswith("/") or path == ".." or path.startswith("../"):
        return FoundFile(name, 0, "0", LEAVES)
    return path


def together(file: FoundFile, members: Sequence[FoundFile]) -> tuple[int, str]:
    """Returns size and token of a file together with its members, from the token of each."""
    if not members:
        return file.bytes, file.modified
    tokens = (f"{one.bytes} {one.modified}".encode() for one in (file, *members))
    return file.bytes + sum(one.bytes for one in members), f"list/{content_digest(*tokens)}"
