"""Finds the raw files below a folder. A folder that cannot be listed is an error, never a shorter listing."""

import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from resources.errors import StorageError, is_of_the_file
from resources.hashing import content_digest
from resources.outside.looking import real_path
from resources.storage.file_times import settled

LEADS_OUTSIDE = "is a link that leads outside the folder; `follow_links: true` reads it"


_ONCE = "?"
"""What follows it in a token is in no other."""


@dataclass(frozen=True)
class FoundFile:
    """A file below a folder: its path from there, its size, its stamp, and why it cannot be read, if so.

    url: its address on a web server; the query may be a secret.
    commit: the commit of the repository that it belongs to.
    """

    path: str
    bytes: int
    modified: str
    problem: str | None
    url: str = field(default="", repr=False, compare=False)
    commit: str = field(default="", compare=False)


def printable(path: str) -> str:
    """Returns a path as text, with bytes that are not UTF-8 (kept as surrogates) and control characters escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def stamp(info: os.stat_result, members: Sequence[os.stat_result] = ()) -> str:
    """Returns a token that changes when a file, or one of those that it lists, is rewritten, touched or replaced.

    If a file is replaced by one with equal size and time (`cp -p`, `mv`), the inode or change time differs. While a
    file may be written again without new times, no two tokens of it are equal, so that it is read each time.
    """
    identity = content_digest(*(f"{one.st_ctime_ns} {one.st_ino}".encode() for one in (info, *members)))
    times = [f"{one.st_size} {one.st_mtime_ns}".encode() for one in members]
    listed = f"-{content_digest(*times)[:16]}" if times else ""
    once = "" if all(map(settled, (info, *members))) else f"{_ONCE}{secrets.token_hex(8)}"
    return f"{info.st_mtime_ns}{listed}/{identity[:16]}{once}"


def is_other(token: str, before: str) -> bool:
    """Returns whether two tokens of a file show that it changed between them."""
    return token.partition(_ONCE)[0] != before.partition(_ONCE)[0]


def walk(
    top: Path, source: str, globs: Iterable[str], ignored: list[tuple[str, str]], *, follow_links: bool
) -> Iterator[FoundFile]:
    """Yields every file below `top` that a glob matches.

    `ignored` gets links to folders, which are never followed, and those that may lead to one. `StorageError` names a
    folder that cannot be listed, or a file that cannot be examined now. A folder in which no glob can match a file is
    skipped.
    """
    patterns = [(glob_pattern(glob), glob.split("/")) for glob in globs]
    folders = [""]
    while folders:
        relative = folders.pop()
        for item in _entries(top, relative, source):
            path = f"{relative}/{item.name}" if relative else item.name
            if _is_folder(item, source, path, follow_symlinks=False):
                if any(may_hold(segments, path) for _, segments in patterns):
                    folders.append(path)
            elif item.is_symlink() and _is_folder(item, source, path, follow_symlinks=True):
                ignored.append((f"{source}/{printable(path)}", "link to a folder, not followed"))
            elif any(pattern.fullmatch(path) for pattern, _ in patterns):
                yield _found(top, item, source, path, follow_links)
            elif any(may_hold(segments, path) for _, segments in patterns) and (why := _why_unseen(item)):
                ignored.append(
                    (f"{source}/{printable(path)}", f"link that may be one to a folder, not followed: {why}")
                )


def _why_unseen(item: "os.DirEntry[str]") -> str:
    """Returns why nobody can see what a link leads to; empty if it can be seen, or is no link."""
    try:
        item.stat()
    except OSError as error:
        return (error.strerror or str(error)) if item.is_symlink() else ""
    return ""


def _entries(top: Path, relative: str, source: str) -> Iterator["os.DirEntry[str]"]:
    try:
        with os.scandir(top / relative) as scan:
            yield from list(scan)
    except OSError as error:
        folder = f"{source}/{printable(relative)}" if relative else f"{source} ({printable(str(top))})"
        why = f"{error.strerror or error}; files in it would be taken for removed (a `glob` can leave the folder out)"
        raise StorageError(f"{folder}: the folder cannot be listed: {why}") from None


def _is_folder(item: "os.DirEntry[str]", source: str, path: str, *, follow_symlinks: bool) -> bool:
    """Returns whether an entry is a folder; a broken link counts as a file and gets its problem later."""
    try:
        return item.is_dir(follow_symlinks=follow_symlinks)
    except OSError as error:
        if is_of_the_file(error):
            return False
        raise _machine_fault(source, path, error) from None


def _found(top: Path, item: "os.DirEntry[str]", source: str, path: str, follow_links: bool) -> FoundFile:
    outside = False
    try:
        outside = item.is_symlink() and not follow_links and _leads_outside(top, item.path)
        info = item.stat()
    except OSError as error:
        if outside and not isinstance(error, FileNotFoundError):
            return FoundFile(path, 0, "0", LEADS_OUTSIDE)
        if is_of_the_file(error):
            return FoundFile(path, 0, "0", f"cannot be read: {error.strerror}")
        raise _machine_fault(source, path, error) from None
    if outside:
        return FoundFile(path, 0, "0", LEADS_OUTSIDE)
    if not stat.S_ISREG(info.st_mode):
        return FoundFile(path, info.st_size, stamp(info), "not a regular file (a pipe, socket or device)")
    if not os.access(item.path, os.R_OK) and not _opens(item.path, source, path):
        return FoundFile(path, info.st_size, "unreadable", "cannot be read: permission denied")
    return FoundFile(path, info.st_size, stamp(info), None)


def _opens(place: str, source: str, path: str) -> bool:
    """Returns whether a file may be read, where `os.access` says no, and not why: the machine may have failed."""
    try:
        os.close(os.open(place, os.O_RDONLY | os.O_CLOEXEC))
    except PermissionError:
        return False
    except OSError as error:
        raise _machine_fault(source, path, error) from None
    return True


def _machine_fault(source: str, path: str, error: OSError) -> StorageError:
    return StorageError(f"{source}/{printable(path)}: cannot be looked at now: {error.strerror or error}")


def _leads_outside(top: Path, path: str) -> bool:
    return not real_path(path).is_relative_to(real_path(top))


def may_hold(segments: Sequence[str], folder: str) -> bool:
    """Returns whether a file below a folder can match a pattern, which is given by its parts."""
    for place, name in enumerate(folder.split("/")):
        if place < len(segments) and "**" in segments[place]:
            return True
        if place >= len(segments) - 1 or not glob_pattern(segments[place]).fullmatch(name):
            return False
    return True


def glob_pattern(pattern: str) -> re.Pattern[str]:
    """Returns a shell pattern over relative paths as a regular expression: `*` stays inside a folder, `**` does not."""
    out = []
    for token in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern):
        special = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        out.append(special.get(token) or re.escape(token))
    return re.compile("".join(out), re.DOTALL)


def fixed_folder(globs: Iterable[str]) -> str:
    """Returns the folder, with `/` at its end, below which all files of some patterns must lie; empty for the top."""
    folders = [list(takewhile(lambda name: not set(name) & set("*?"), glob.split("/")[:-1])) for glob in globs]
    same = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
    return "".join(f"{names[0]}/" for names in same)


def fixed_prefix(globs: Iterable[str]) -> str:
    """Returns the characters with which the paths of all files of some patterns must begin."""
    begins = [re.split("[*?]", glob, maxsplit=1)[0] for glob in globs]
    return os.path.commonprefix(begins)  # noqa: RUF071 -- keys of an object store are characters, not folders
