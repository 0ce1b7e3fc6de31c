"""Formats with an `index.json` that names their files: which belong together, and what names are refused."""

import posixpath
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from corpus_assets.token_files.pieces import TokenFile
from resources.errors import BadFileError
from resources.raw_places.files import FoundFile, printable
from resources.raw_places.interface import Group

INDEX: Final = "index.json"
_LONGEST = 256 << 20
IndexT = TypeVar("IndexT")
Names = Callable[[bytes, set[str]], list[str]]
"""Returns the names of files in the content of an index. It is given those that lie in its folder or below."""


def group_indexed(
    files: Sequence[FoundFile], content: Callable[[FoundFile], bytes], *, names: Names
) -> Iterator[Group]:
    """Yields each index with the files that it names.

    An index over folders that have indexes of their own is passed over, as its files are read by those.
    """
    paths = {file.path for file in files}
    indexes = {posixpath.dirname(file.path): file for file in files if posixpath.basename(file.path) == INDEX}
    for folder, file in sorted(indexes.items()):
        inside = {
            posixpath.relpath(path, folder or ".") for path in paths if path.startswith(f"{folder}/" * bool(folder))
        }
        try:
            named = names(content(file), inside)
        except (BadFileError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
            yield Group(file, folder or "index", problem=_in_words(fault))
            continue
        if problem := _problem(named):
            yield Group(file, folder or "index", problem=problem)
        elif not named or not all(_has_index(folder, name, indexes) for name in named):
            yield Group(file, folder or "index", tuple(named))


def _in_words(fault: Exception) -> str:
    return fault.problem if isinstance(fault, BadFileError) else f"is no index of the format: {fault}"


def _problem(named: Sequence[str]) -> str | None:
    """Returns why names cannot be those of files of the index: they leave its folder, or one is there twice."""
    for name in named:
        if (
            not name
            or name.startswith("/")
            or "\0" in name
            or posixpath.normpath(name) != name
            or ".." in name.split("/")
        ):
            return f"names {printable(name)!r}; valid: files in its folder or below"
    if len(set(named)) < len(named):
        return "names a file twice"
    return None


def _has_index(folder: str, name: str, indexes: dict[str, FoundFile]) -> bool:
    below = posixpath.dirname(name)
    return bool(below) and posixpath.join(folder, below) in indexes


def read_index(file: TokenFile, kind: type[IndexT]) -> IndexT:
    """Returns the content of an index; `BadFileError` for one that is none."""
    if file.size > _LONGEST:
        raise file.bad(f"has {file.size:,} bytes; valid: at most {_LONGEST:,}")
    try:
        return msgspec.json.decode(file.read(file.size, "the index"), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise file.bad(f"is no index of the format: {fault}") from fault
