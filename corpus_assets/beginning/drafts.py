"""Divides a place into sources: a folder whose files have one shape is one, a mixed folder becomes several."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from corpus_assets.beginning.looking.look import Looked, Shape, Unread
from corpus_assets.beginning.looking.readings import why_none
from corpus_assets.beginning.looking.values import Row
from resources.raw_places.files import glob_pattern, printable

MOST_SOURCES: Final = 100
_FEW: Final = 20
"""Folders side by side that become sources of their own."""
_MOST_PATTERNS: Final = 40
_DEEPEST: Final = 50
"""Folders in each other that are told apart; those below are one name."""
_COUNTED: Final = re.compile(r"(?:[a-z]{0,12}[-_.=]?)?\d[\d._-]*|[a-z_]+=.*", re.IGNORECASE)
"""Names of folders that are parts of one whole: numbers, dates, partitions."""
_SOUND: Final = ("list", "no_text", "json")
"""Reasons of files that are sound, and hold something else."""


@dataclass(frozen=True)
class Draft:
    """A source to be: files of one shape.

    folder: from the top of the place. globs: none for all files below. families: those of the shape. others: families
    that the globs match too, and of which no file can be read in this shape.
    """

    folder: str
    globs: tuple[str, ...]
    families: Sequence[Looked]
    others: Sequence[Looked] = ()

    @property
    def shape(self) -> Shape:
        """Returns the shape of its files, with a key of ids if all of them have it."""
        shapes = [one.shape for one in self.families if one.shape is not None]
        keys = {shape.reading.id for shape in shapes}
        return replace(shapes[0], reading=replace(shapes[0].reading, id=keys.pop() if len(keys) == 1 else None))

    @property
    def rows(self) -> list[Row]:
        """Returns all sampled rows."""
        return [row for one in self.families for row in one.rows]

    @property
    def files(self) -> int:
        """Returns the number of files that are read."""
        return sum(one.family.files for one in self.families)

    @property
    def bytes(self) -> int:
        """Returns the bytes of these files."""
        return sum(one.family.bytes for one in self.families)


@dataclass
class _Node:
    """A folder. own: families in it. below: folders by name. is_open: all folders below can be listed."""

    folder: str = ""
    own: list[Looked] = field(default_factory=list)
    below: dict[str, "_Node"] = field(default_factory=dict)
    is_open: bool = True

    def at(self, path: str) -> Iterator["_Node"]:
        """Yields the folders on the way to a path, the folder itself first."""
        node = self
        yield node
        for name in path.split("/", _DEEPEST) if path else ():
            node = node.below.setdefault(name, _Node(f"{node.folder}/{name}".lstrip("/")))
            yield node

    def all(self) -> Iterator[Looked]:
        """Yields all families in and below the folder."""
        yield from self.own
        for node in self.below.values():
            yield from node.all()


def drafts_of(families: Iterable[Looked], unlisted: Iterable[str] = ()) -> list[Draft]:
    """Returns the sources to be, in order of their folders. Families without a shape are in none.

    unlisted: folders that cannot be listed, which lie below no source.
    """
    top = _Node()
    for one in families:
        *_, node = top.at(one.family.folder)
        node.own.append(one)
    for path in unlisted:
        for node in top.at(path):
            node.is_open = False
    while not _readable(top.own) and len(top.below) == 1 and not top.own:
        (top,) = top.below.values()
    return _divided(top, is_top=True)


def _divided(node: _Node, *, is_top: bool = False) -> list[Draft]:
    below = list(node.all())
    groups = _by_shape(below)
    if not groups:
        return []
    divides = (is_top and _are_names(node)) or (node.below and _hides_others(below)) or not node.is_open
    if len(groups) == 1 and not divides:
        return [_whole(node, below)]
    found = _own(node)
    for name in sorted(node.below):
        found += _divided(node.below[name])
    if len(found) > _FEW and (together := _by_suffix(node, below)) and len(together) < len(found):
        return together
    return found if len(found) <= MOST_SOURCES else [_largest(node, below)]


def _hides_others(families: Sequence[Looked]) -> bool:
    """Returns whether sound files of other content, such as lists, have the suffix of files that are read."""
    suffixes = {one.family.suffix for one in _readable(families)}
    others = (one for one in families if one.shape is None and one.family.suffix in suffixes)
    return any(unread.reason in _SOUND for one in others for unread in one.bad)


def _are_names(node: _Node) -> bool:
    """Returns whether the folders below a folder have names of their own, so that each is a source."""
    readable = [name for name, child in node.below.items() if _readable(child.all())]
    return 1 < len(readable) <= _FEW and not _readable(node.own) and not all(map(_COUNTED.fullmatch, readable))


def _readable(families: Iterable[Looked]) -> list[Looked]:
    return [one for one in families if one.shape is not None]


def _key(shape: Shape) -> Shape:
    return replace(shape, reading=replace(shape.reading, id=None))


def _by_shape(families: Iterable[Looked]) -> dict[Shape, list[Looked]]:
    groups: dict[Shape, list[Looked]] = defaultdict(list)
    for one in families:
        if one.shape is not None:
            groups[_key(one.shape)].append(one)
    return groups


def _whole(node: _Node, below: Sequence[Looked]) -> Draft:
    """Returns all files below a folder as one source."""
    mine = _readable(below)
    # Files beside data, and such without bytes, may stay: a build passes over them, or finds no rows in them.
    others = [one for one in below if one.shape is None and not one.is_beside and one.family.samples]
    if not others and all(one.shape is not None and one.shape.format == "auto" for one in mine):
        return Draft(node.folder, (), mine)
    return Draft(node.folder, _patterns(mine, "**/"), mine, _matched(mine, others))


def _patterns(families: Iterable[Looked], prefix: str) -> tuple[str, ...]:
    """Returns patterns for the suffixes of families, or for their names where they have no suffix."""
    given = (f"*{one.family.suffix}" if one.family.suffix else one.family.glob for one in families)
    return tuple(dict.fromkeys(prefix + name for name in given))


def _matched(mine: Sequence[Looked], others: Iterable[Looked]) -> list[Looked]:
    """Returns the families of which patterns by suffix match files too, although none of them can be read."""
    suffixes = {one.family.suffix for one in mine}
    return [one for one in others if one.family.suffix in suffixes]


def _own(node: _Node) -> list[Draft]:
    """Returns the sources of files that lie in a folder itself."""
    groups = _by_shape(node.own)
    if not groups:
        return []
    if (found := _by_suffix(node, node.own, "")) is not None:
        return found
    named = {shape: tuple(dict.fromkeys(one.family.glob for one in group)) for shape, group in groups.items()}
    if all(len(patterns) <= _MOST_PATTERNS for patterns in named.values()) and not _clash(node.own, named):
        return [Draft(node.folder, named[shape], group) for shape, group in groups.items()]
    return [_largest(node, node.own, "")]


def _by_suffix(node: _Node, families: Sequence[Looked], prefix: str = "**/") -> list[Draft] | None:
    """Returns a source for each shape, if its files can be told from others by their suffixes alone."""
    groups = _by_shape(families)
    taken: dict[str, Shape] = {}
    for shape, group in groups.items():
        for one in group:
            if taken.setdefault(one.family.suffix, shape) != shape or not one.family.suffix:
                return None
    others = [one for one in families if one.shape is None]
    return [Draft(node.folder, _patterns(group, prefix), group, _matched(group, others)) for group in groups.values()]


def _clash(families: Sequence[Looked], named: dict[Shape, tuple[str, ...]]) -> bool:
    """Returns whether a pattern of one shape matches a file of another."""
    for one in _readable(families):
        assert one.shape is not None
        others = (glob for shape, globs in named.items() if shape != _key(one.shape) for glob in globs)
        patterns = [glob_pattern(glob) for glob in others]
        names = [file.path.rpartition("/")[2] for file in one.family.samples]
        if any(pattern.fullmatch(name) for pattern in patterns for name in names):
            return True
    return False


def _largest(node: _Node, families: Sequence[Looked], prefix: str = "**/") -> Draft:
    """Returns a source with the files of the commonest shape; the others of their suffixes cannot be read in it."""
    groups = _by_shape(families)
    best = max(groups, key=lambda shape: sum(one.family.bytes for one in groups[shape]))
    mine = groups[best]
    others = [one for one in families if not any(one is other for other in mine)]
    for one in others:
        if one.shape is not None:
            path, keys = printable(one.family.samples[0].path), why_none(one.rows[:1]).rpartition("; ")[2]
            words = f"lies among files of another kind, and cannot be told from them by its name; {keys}"
            if one.shape.format != "auto":
                words = f"is {one.shape.format} by its first bytes, which its name does not say: rename it"
            one.bad.append(Unread(path, one.family.files, "other_keys", words))
    return Draft(node.folder, _patterns(mine, prefix), mine, _matched(mine, others))
