"""Files that lie beside raw files, one for each, in a tree that mirrors theirs: attributes that somebody else made."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from resources.raw_places import SourceFolder, place_of
from resources.raw_places.data_suffixes import data_suffix
from resources.raw_places.files import FoundFile, printable
from resources.shards.left_out import is_hidden
from resources.shards.listing import Listing
from resources.shards.shard import Shard

ABSENT = "is not there"
DOCUMENTS = "documents"
"""The folder that Dolma replaces by `attributes/<name>`."""


@dataclass(frozen=True)
class Beside:
    """A set of files beside the raw files of some sources.

    name: of the set. kind: the folder of such sets in messages. folders: where the files of each source lie.
    mirrored: sources whose files lie where Dolma puts them, in one tree for all sources; those of others lie at the
    path that the raw file has below the location of its source.
    """

    name: str
    kind: str
    folders: Mapping[str, SourceFolder]
    mirrored: bool

    def path(self, shard: Shard) -> str:
        """Returns where the file of a raw file lies, from its folder, with the suffix of the raw file."""
        return mirrored_path(shard, alone=len(self.folders) == 1) if self.mirrored else shard.path


def mirrored_path(shard: Shard, *, alone: bool) -> str:
    """Returns the path of a raw file in a tree of attributes: what follows the folder `documents`, as in Dolma.

    Without such a folder, its path below the location of its source, after the name of the source if there are others.
    """
    names = shard.path.split("/")
    if DOCUMENTS in names[:-1]:
        return "/".join(names[names.index(DOCUMENTS) + 1 :])
    above = shard.location.rstrip("/").split("/")
    if DOCUMENTS in above:
        last = len(above) - 1 - above[::-1].index(DOCUMENTS)
        return "/".join([*above[last + 1 :], shard.path])
    return shard.path if alone else f"{shard.source}/{shard.path}"


def with_beside(listing: Listing, wanted: Sequence[Beside]) -> Listing:
    """Returns the listing with the files beside each raw file, and notes on files that belong to none.

    A file that is not there has a problem, so that it fails its own shard alone. Errors as of `RawPlace.files`.
    """
    if not wanted:
        return listing
    beside: dict[str, list[tuple[str, Shard]]] = {}
    ignored = list(listing.ignored)
    for one in wanted:
        trees = {folder: _Tree(folder, ignored) for folder in dict.fromkeys(one.folders.values())}
        made = []
        for shard in listing.shards:
            if (folder := one.folders.get(shard.source)) is not None:
                made.append(_shard(one, shard, folder, trees[folder].take(one.path(shard))))
                beside.setdefault(shard.key, []).append((one.name, made[-1]))
        ignored += _of_problems([file for file in made if file.problem])
        ignored += (note for tree in trees.values() for note in tree.rest(f"{one.kind}/{one.name}"))
    shards = (replace(shard, beside=tuple(beside.get(shard.key, ()))) for shard in listing.shards)
    return replace(listing, shards=tuple(shards), ignored=tuple(ignored))


def _of_problems(files: Sequence[Shard]) -> Iterator[tuple[str, str]]:
    """Yields a note on the files that are not there or cannot be read."""
    if files:
        more = f" ({len(files) - 1} more files of attributes cannot be read)" if len(files) > 1 else ""
        yield files[0].label, f"{files[0].problem}{more}"


def _shard(one: Beside, raw: Shard, folder: SourceFolder, found: FoundFile) -> Shard:
    return replace(
        raw,
        source=f"{one.kind}/{one.name}",
        location=folder.location,
        path=found.path,
        bytes=found.bytes,
        modified=found.modified,
        members=(),
        lines=(),
        problem=found.problem,
        place=place_of(folder),
        found=found,
    )


class _Tree:
    """The files below a folder, by their path, and by their path without suffix."""

    def __init__(self, folder: SourceFolder, ignored: list[tuple[str, str]]) -> None:
        self._files: dict[str, FoundFile] = {}
        self._by_stem: dict[str, list[str]] = {}
        self._taken: set[str] = set()
        for file in place_of(folder).files(folder, ignored):
            if not is_hidden(file.path) and data_suffix(file.path) is not None:
                self._files[file.path] = file
                self._by_stem.setdefault(_stem(file.path), []).append(file.path)

    def take(self, path: str) -> FoundFile:
        """Returns the file at a path, else the only one that differs from it in its data suffix."""
        named = sorted([path] if path in self._files else self._by_stem.get(_stem(path), []))
        self._taken.update(named)
        if len(named) == 1:
            return self._files[named[0]]
        problem = f"is one of {len(named)}: {', '.join(map(printable, named))}; valid: one" if named else ABSENT
        return FoundFile(path, 0, "0", problem)

    def rest(self, label: str) -> Iterator[tuple[str, str]]:
        """Yields a note on the files that no raw file has."""
        if rest := sorted(self._files.keys() - self._taken):
            others = f" nor do {len(rest) - 1} more" if len(rest) > 1 else ""
            yield f"{label}/{printable(rest[0])}", f"belongs to no raw file{f',{others}' if others else ''}"


def _stem(path: str) -> str:
    suffix = data_suffix(path) or posixpath.splitext(path)[1]
    return path[: len(path) - len(suffix)]
