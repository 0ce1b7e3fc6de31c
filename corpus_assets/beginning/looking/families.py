"""Raw files in families: those of one folder whose names differ in numbers only, with some of them as samples.

Memory does not grow with the number of files, but with that of folders and of kinds of names in them.
"""

import heapq
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from resources.hashing import content_digest
from resources.raw_places.data_suffixes import data_suffix
from resources.raw_places.files import FoundFile

MOST_NAMES: Final = 100
"""Kinds of names that are told apart in a folder, by suffix."""
KEPT: Final = 16
"""Files of a family that may be looked at."""
_PACKED: Final = (".gz", ".zst", ".bz2", ".xz", ".lz4")


@dataclass
class Family:
    """Files of one folder that look alike by their names.

    folder: their path from the top, empty for the top itself. suffix: as written in their names, with its dot. empty:
    how many have no byte. glob: a pattern of their names within the folder.
    """

    folder: str
    suffix: str
    glob: str
    files: int = 0
    bytes: int = 0
    empty: int = 0
    _kept: list[tuple[str, FoundFile]] = field(default_factory=list)

    @property
    def samples(self) -> list[FoundFile]:
        """Returns the files to look at: the first by a hash of their path, so that no part of a folder is preferred."""
        return [file for _, file in sorted(self._kept, key=lambda kept: kept[0], reverse=True)]

    def add(self, file: FoundFile) -> None:
        """Counts a file, and keeps it if it is among the samples."""
        self.files += 1
        self.bytes += file.bytes
        is_empty = not file.bytes and not file.problem
        self.empty += is_empty
        if not is_empty:
            self._keep(file)

    def take(self, other: "Family") -> None:
        """Counts all files of another family."""
        self.files += other.files
        self.bytes += other.bytes
        self.empty += other.empty
        for file in other.samples:
            self._keep(file)

    def _keep(self, file: FoundFile) -> None:
        # The smallest hashes stay: a heap of their complements has the largest of them first.
        rank = content_digest(file.path.encode("utf-8", "surrogateescape")).translate(_COMPLEMENT)
        push = heapq.heappush if len(self._kept) < KEPT else heapq.heappushpop
        push(self._kept, (rank, file))


_COMPLEMENT: Final = str.maketrans("0123456789abcdef", "fedcba9876543210")


def suffix_of(name: str) -> str:
    """Returns the suffix of a file: that of a known format, else what follows the last dot, packing included."""
    if (known := data_suffix(name)) is not None:
        return known
    packed = next((one for one in _PACKED if name.lower().endswith(one)), "")
    stem = name[: len(name) - len(packed)]
    ending = re.search(r"(?<=.)\.[A-Za-z0-9_-]{1,12}$", stem)
    return name[ending.start() :] if ending else name[len(stem) :]


def families_of(files: Iterable[FoundFile]) -> list[Family]:
    """Returns the families of files, in order of folder and name."""
    known: dict[tuple[str, str], dict[str, Family]] = {}
    for file in files:
        folder, _, name = file.path.rpartition("/")
        suffix = suffix_of(name)
        named = known.setdefault((folder, suffix), {})
        kind = "" if "" in named else re.sub(r"\d+", "*", name[: len(name) - len(suffix)])
        if kind not in named:
            if len(named) == MOST_NAMES:
                whole = Family(folder, suffix, f"*{suffix}")
                for family in named.values():
                    whole.take(family)
                named.clear()
                named[""] = whole
                kind = ""
            else:
                named[kind] = Family(folder, suffix, name)
        family = named[kind]
        if kind and family.files:
            family.glob = f"{kind}{suffix}"
        family.add(file)
    return list(_in_order(known))


def _in_order(known: dict[tuple[str, str], dict[str, Family]]) -> Iterator[Family]:
    for place in sorted(known):
        yield from (known[place][kind] for kind in sorted(known[place]))
