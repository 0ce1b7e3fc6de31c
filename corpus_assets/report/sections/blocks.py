"""The blocks of sections. The template renders each kind of block."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from markupsafe import Markup

from corpus_assets.report.model import Cluster, Text

MOST_ROWS = 60
"""Rows of a table; the others are added up in its last row, or counted below it."""

MOST_COLUMNS = 12
T = TypeVar("T")


@dataclass(frozen=True)
class Note:
    """A paragraph."""

    text: str
    kind: str = "note"


@dataclass(frozen=True)
class Heading:
    """The title of what follows within a section."""

    text: str
    kind: str = "heading"


@dataclass(frozen=True)
class Tiles:
    """Prominent numbers: label, value in words, and a remark."""

    pairs: Sequence[tuple[str, str, str]]
    kind: str = "tiles"


@dataclass(frozen=True)
class Table:
    """A table as `parts.html` has it: columns of (label, kind), rows of values."""

    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]
    foot: Sequence[Any] | None = None
    left_out: int = 0
    kind: str = "table"


@dataclass(frozen=True)
class Charts:
    """Charts side by side where there is room."""

    charts: Sequence[Markup]
    kind: str = "charts"


@dataclass(frozen=True)
class Lines:
    """Lines of text that may be many, folded under a title."""

    title: str
    lines: Sequence[str]
    kind: str = "lines"


@dataclass(frozen=True)
class Clusters:
    """Near-duplicates with their texts side by side."""

    clusters: Sequence[Cluster]
    kind: str = "clusters"


@dataclass(frozen=True)
class Texts:
    """Texts with marked pieces."""

    texts: Sequence[Text]
    kind: str = "texts"


Block = Note | Heading | Tiles | Table | Charts | Lines | Clusters | Texts


@dataclass
class Section:
    """A part of the page. key: its anchor."""

    key: str
    title: str
    blocks: list[Block] = field(default_factory=list)


def largest(items: Iterable[T], size: Callable[[T], float], most: int) -> tuple[list[T], list[T]]:
    """Returns up to `most` of the items, in their order, and the others, which are smaller."""
    given = list(items)
    order = sorted(range(len(given)), key=lambda place: (-size(given[place]), place))
    chosen = set(order[:most])
    return (
        [item for place, item in enumerate(given) if place in chosen],
        [item for place, item in enumerate(given) if place not in chosen],
    )


def folded(values: Mapping[str, float], most: int) -> dict[str, float]:
    """Returns the largest values by name, in their order, and the others together under `N others`."""
    chosen, others = largest(values, lambda name: values[name], most)
    found = {name: values[name] for name in chosen}
    if others:
        found[f"{len(others):,} others"] = sum(values[name] for name in others)
    return found
