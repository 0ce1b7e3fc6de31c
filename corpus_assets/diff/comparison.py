"""The comparison of two sides: of their numbers, and of their documents if both are stores."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from corpus_assets.diff.documents import Changes, changed_documents
from corpus_assets.diff.numbers import Asset, Measures, Numbers
from corpus_assets.diff.opened import Side

ABSENT = "(none)"
"""How a value is shown that one side does not have."""
_FOLLOWS: Final = re.compile(r"card\.(graph|steps)(\.|$)")
"""Parameters of the card that follow from the rest of the configuration, and are no keys of it."""


class Value(msgspec.Struct):
    """A value of the configuration that differs; `what` is `changed`, `added` or `removed`."""

    key: str
    what: str
    old: Any = None
    new: Any = None


class Count(msgspec.Struct):
    """A number that differs. of: the source, split, dataset or asset; None: that side does not have it.

    reason: for which documents were dropped; empty for other numbers. measure: what is counted; of dropped documents
    their source, empty if it was not counted.
    """

    of: str
    measure: str
    old: int | None
    new: int | None
    reason: str = ""


class Changed(msgspec.Struct):
    """An asset that differs; `what` is `added`, `removed`, or which of its values changed, in words."""

    asset: str
    what: str


class Difference(msgspec.Struct):
    """The differences between two sides.

    old, new: their names, and when the newest partition of each was made. documents: by source; None if a side is no
    store, for the reason in `no_documents`.
    """

    old: dict[str, str]
    new: dict[str, str]
    configuration: list[Value]
    assets: list[Changed]
    sources: list[Count]
    splits: list[Count]
    datasets: list[Count]
    duplicates: list[Count]
    dropped: list[Count]
    documents: dict[str, Changes] | None = None
    no_documents: str = ""

    @property
    def is_empty(self) -> bool:
        """True if nothing differs."""
        counts = (self.sources, self.splits, self.datasets, self.duplicates, self.dropped)
        differing = [one for one in (self.documents or {}).values() if one.added or one.removed or one.changed]
        return not (self.configuration or self.assets or any(counts) or differing)


def compared(old: Numbers, new: Numbers, names: tuple[str, str]) -> Difference:
    """Returns the differences in the numbers of two sides. names: of the sides.

    Only numbers that both counted are compared. If records are compared with a report, values of the configuration and
    assets that one of them does not have are left out: they know different parts.
    """
    alike = old.kind == new.kind
    return Difference(
        old={"what": names[0], "made": old.made},
        new={"what": names[1], "made": new.made},
        configuration=list(_values(old.configuration, new.configuration, alike=alike)),
        assets=list(_assets(old.assets, new.assets)) if alike else [],
        sources=list(_counts(old.sources, new.sources)),
        splits=list(_counts(*(_common(one.splits, other.splits, alike) for one, other in ((old, new), (new, old))))),
        datasets=list(_counts(old.datasets, new.datasets)),
        duplicates=list(_counts({"all": old.duplicates}, {"all": new.duplicates})),
        dropped=list(_dropped(old, new, alike=alike)),
    )


def compared_sides(old: Side, new: Side, asset: str, examples: int) -> Difference:
    """Returns the differences between two sides, including documents if both are stores. asset: whose documents."""
    found = compared(old.numbers, new.numbers, (old.what, new.what))
    sides = [side.documents(asset) for side in (old, new)]
    if sides[0] is None or sides[1] is None:
        found.no_documents = f"{(old if sides[0] is None else new).what} is a report, which holds numbers alone"
    else:
        found.documents = changed_documents(sides[0], sides[1], examples)
    return found


def _values(old: Mapping[str, Any], new: Mapping[str, Any], *, alike: bool) -> Iterator[Value]:
    for key in sorted(old.keys() | new.keys() if alike else old.keys() & new.keys()):
        if _FOLLOWS.match(key):
            continue
        if key not in new:
            yield Value(key, "removed", old=old[key])
        elif key not in old:
            yield Value(key, "added", new=new[key])
        elif old[key] != new[key]:
            yield Value(key, "changed", old[key], new[key])


def _assets(old: Mapping[str, Asset], new: Mapping[str, Asset]) -> Iterator[Changed]:
    for name in dict.fromkeys((*old, *new)):
        if name not in new or name not in old:
            yield Changed(name, "removed" if name in old else "added")
        elif words := list(_changes(old[name], new[name])):
            yield Changed(name, ", ".join(words))


def _changes(old: Asset, new: Asset) -> Iterator[str]:
    if old.code_version != new.code_version:
        yield f"code version {old.code_version} -> {new.code_version}"
    if old.partitions != new.partitions:
        yield f"partitions {old.partitions:,} -> {new.partitions:,}"
    if old.digest != new.digest and None not in (old.digest, new.digest):
        yield "other content"


def _common(one: Mapping[str, Measures], other: Mapping[str, Measures], alike: bool) -> Mapping[str, Measures]:
    return one if alike else {name: measures for name, measures in one.items() if name in other}


def _counts(old: Mapping[str, Measures], new: Mapping[str, Measures]) -> Iterator[Count]:
    """Yields the numbers that differ; one that a side did not count only if that side does not have the thing."""
    for name in dict.fromkeys((*old, *new)):
        left, right = old.get(name), new.get(name)
        for measure in dict.fromkeys((*(left or {}), *(right or {}))):
            ours, theirs = (None if one is None else one.get(measure) for one in (left, right))
            counted = left is None or right is None or (ours is not None and theirs is not None)
            if counted and ours != theirs:
                yield Count(name, measure, ours, theirs)


def _dropped(old: Numbers, new: Numbers, *, alike: bool) -> Iterator[Count]:
    """Yields the reasons with other numbers, by source where both sides counted so."""
    assets: Iterable[str] = dict.fromkeys((*old.dropped, *new.dropped))
    if not alike:
        assets = [name for name in assets if name in old.dropped and name in new.dropped]
    for asset in assets:
        left, right = old.dropped.get(asset, {}), new.dropped.get(asset, {})
        for reason in sorted(left.keys() | right.keys()):
            ours, theirs = left.get(reason, {}), right.get(reason, {})
            total = sum(ours.values()), sum(theirs.values())
            if "" in ours or "" in theirs:
                ours, theirs = {"": total[0]}, {"": total[1]}
            for source in sorted(ours.keys() | theirs.keys()):
                pair = ours.get(source, 0), theirs.get(source, 0)
                if pair[0] != pair[1]:
                    yield Count(asset, source, *pair, reason=reason)
