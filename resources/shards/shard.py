"""A shard: one raw file, with the files that are read together with it."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO

from resources.errors import BadFileError, file_fault, is_of_the_file
from resources.hashing import content_digest
from resources.outside.stream import OutsideStream
from resources.raw_places import LocalFolder, RawPlace
from resources.raw_places.files import FoundFile, glob_pattern, is_other, printable
from resources.raw_places.interface import NO_FILE


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
    beside: files that lie beside it, each with the name of its set (`resources/shards/beside.py`).
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
    beside: tuple[tuple[str, "Shard"], ...] = field(default=(), repr=False, compare=False)

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

    def file_beside(self, name: str) -> "Shard | None":
        """Returns the file of a set that lies beside it; None if the set has none for its source."""
        return dict(self.beside).get(name)

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

        False for files that are always opened in the version that was listed. `StorageError` if the machine cannot look
        at it now.
        """
        try:
            size, modified = self.stamped()
            return size != self.bytes or is_other(modified, self.modified)
        except BadFileError:
            return True
        except OSError as error:
            if is_of_the_file(error):
                return True
            raise file_fault(self.label, error) from None

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

    def digest_as_seen(self) -> tuple[str, dict[str, int | str]]:
        """Returns the digest of the raw bytes, and what `seen` says of the file that had them.

        That is the listed one, unless a file of this machine was replaced before it was read, and not again while it
        was: then the plan would read it once more, only to find that nothing changed.
        """
        before = self._stamp_now()
        digest = self.digest()
        if before is None or self._stamp_now() != before:
            return digest, self.seen()
        return digest, self.seen() | {"bytes": before[0], "modified": before[1]}

    def _stamp_now(self) -> tuple[int, str] | None:
        """Returns size and modification token now; None if there are none, or the listed version is always opened."""
        if not isinstance(self._place, LocalFolder):
            return None
        try:
            return self.stamped()
        except (BadFileError, OSError):
            return None

    def digest(self) -> str:
        """Returns the xxh3-128 of the raw bytes, members included."""
        members = ((member, _stream_digest(self.open_member(member))) for member in self.members)
        return digest_together(_stream_digest(self.open()), members)


def digest_together(own: str, members: Iterable[tuple[str, str]]) -> str:
    """Returns the digest of a file together with the files that it lists.

    members: their names and digests, in the order of the list.
    own: the digest of the file itself, which is returned if it lists nothing.
    """
    parts = [own, *(f"{name} {digest}" for name, digest in members)]
    return own if len(parts) == 1 else content_digest(*(part.encode() for part in parts))


def _stream_digest(file: BinaryIO) -> str:
    with closing(OutsideStream(file)) as stream:
        return stream.drained()
