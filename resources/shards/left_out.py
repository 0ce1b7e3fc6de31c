"""Decides which files in a source's folder are not raw files: hidden ones, files of systems, unknown formats."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from resources.raw_places.data_suffixes import data_suffix
from resources.raw_places.files import FoundFile, printable

SYSTEM_FOLDERS: Final = frozenset(
    {
        *("_temporary", "_spark_metadata", "_delta_log", "_change_data", "_symlink_format_manifest"),
        *("__macosx", "__pycache__", "lost+found", "$recycle.bin", "system volume information"),
        *("~snapshot", "@eadir", "#recycle", "#snapshot"),
    }
)
"""Folders in which Spark, Delta Lake, archivers, Python, file systems and network storage keep copies, partial files or
logs; in small letters. They are ignored like hidden folders, although their names do not begin with a dot.
"""

_BESIDE: Final = re.compile(
    r"(readme|licen[cs]e|notice|copying|changelog|citation|authors|manifest|_success|_committed|_started|"
    r"dataset_infos?|(md5|sha\d*|b2)sums?)([._-].*)?"
    r"|.*\.(md|crc|md5|sha\d*|sfv|sig|asc|ya?ml|toml|cfg|ini|py|sh|log)",
    re.IGNORECASE,
)
"""Files beside data that are no data: descriptions, checksums, markers of success, scripts."""

_MOST_SUFFIXES: Final = 20
_SUFFIX: Final = re.compile(r"(?<=.)(\.[a-z][a-z0-9_-]{0,9})?\.(?=[a-z0-9]*[a-z])[a-z0-9_-]{1,10}$")
_ARCHIVE: Final = r"\.(zip|7z|rar|tar|tgz|tbz2?|txz)(\.|$)"
_READS: Final = (
    *((r"json|\.jl\b", "jsonl"), (r"csv", "csv"), (r"tsv|tab", "tsv"), (r"parq", "parquet")),
    *((r"arrow|ipc|feather", "arrow"), (r"\.wet", "warc.wet"), (r"warc", "warc"), (r"te?xt|rst|\.md|asc", "txt")),
)
"""Formats of which a suffix speaks, although it is none of theirs."""


@dataclass(frozen=True)
class Unread:
    """Files that a glob of a source matches but that have no known suffix, except files that only describe data."""

    files: int = 0
    bytes: int = 0
    first: str = ""

    @property
    def example(self) -> str:
        """The first of them by name, and why it was passed over."""
        return f"{self.first}: {unknown_suffix(self.first)}"

    def and_one(self, found: FoundFile) -> "Unread":
        """Returns the same with one more file."""
        name = printable(found.path)
        return Unread(self.files + 1, self.bytes + found.bytes, min(self.first or name, name))


def hidden_folder(path: str) -> str | None:
    """Returns the first folder of a path that is hidden, or a system's own; None if no folder is."""
    folders = path.split("/")[:-1]
    for depth, name in enumerate(folders, 1):
        if (name.startswith(".") and name not in (".", "..")) or name.lower() in SYSTEM_FOLDERS:
            return "/".join(folders[:depth])
    return None


def why_hidden_folder(folder: str, files: int) -> str:
    """Returns in words that files of a folder are passed over."""
    kind = "hidden folder" if folder.rpartition("/")[2].startswith(".") else "a system's own folder"
    return f"{kind}, {files:,} files in it are passed over (`hidden: true` reads them)"


def is_hidden(path: str) -> bool:
    """Returns whether a file is hidden itself."""
    return path.rpartition("/")[2].startswith(".")


class Unknown:
    """The files of a source that have no known suffix, by their suffix."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._counts = Counter[str]()

    def add(self, path: str) -> None:
        """Counts a file."""
        suffix = suffix_of(path)
        if suffix not in self._first and len(self._first) >= _MOST_SUFFIXES:
            suffix = ""
        name = printable(path)
        self._first[suffix] = min(self._first.get(suffix, name), name)
        self._counts[suffix] += 1

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yields for each suffix the first of its files by name, and in words why they are passed over."""
        for suffix, first in sorted(self._first.items(), key=lambda item: item[1]):
            more = self._counts[suffix] - 1
            like = f" with {suffix}" if suffix else ""
            yield first, unknown_suffix(first) + (f"; so are {more:,} more files{like}" if more else "")


def suffix_of(path: str) -> str:
    """Returns the suffix of a name as people see it, in small letters; empty if there is none."""
    found = _SUFFIX.search(path.rpartition("/")[2].lower())
    return found[0] if found else ""


def unknown_suffix(path: str) -> str:
    """Returns in words why a file of no known suffix is passed over, and which key reads it."""
    suffix = suffix_of(path)
    what = f"unknown suffix {suffix}" if suffix else "unknown suffix"
    if re.search(_ARCHIVE, suffix):
        return f"{what}, passed over (archives are not read: unpack them)"
    rows = next((rows for words, rows in _READS if re.search(words, suffix)), None)
    if rows is None:
        return f"{what}, passed over (`format` reads files of any name: jsonl, parquet, txt and others)"
    return f"{what}, passed over (`format: {rows}` reads files of any name)"


def is_unread(found: FoundFile) -> bool:
    """Returns whether a file of no known suffix may have been meant as data."""
    return data_suffix(found.path) is None and not _BESIDE.fullmatch(found.path.rpartition("/")[2])
