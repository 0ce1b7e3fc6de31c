"""Decides which files in a source's folder are not raw files: hidden ones, files of systems, unknown formats."""

import re
from dataclasses import dataclass
from typing import Final

from resources.raw_places.files import FoundFile, printable
from resources.shard_names import SUFFIXES, data_suffix

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


@dataclass(frozen=True)
class Unread:
    """Files that a glob of a source matches but that have no known suffix, except files that only describe data."""

    files: int = 0
    bytes: int = 0
    first: str = ""

    @property
    def example(self) -> str:
        """The first of them by name, and why it was passed over."""
        return f"{self.first}: {unknown_suffix()}"

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


def unknown_suffix() -> str:
    """Returns in words why a file of no known suffix is passed over."""
    return f"unknown suffix; known are {' '.join(sorted(SUFFIXES))}"


def is_unread(found: FoundFile) -> bool:
    """Returns whether a file of no known suffix may have been meant as data."""
    return data_suffix(found.path) is None and not _BESIDE.fullmatch(found.path.rpartition("/")[2])
