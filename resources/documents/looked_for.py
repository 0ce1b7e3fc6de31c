"""Counts in how many rows a name that the configuration gives was found, and what was there instead.

A name that no row has is a fault of no single row, so without these counts nothing would show that it is misspelt. The
counts are statistics of the partition that reads the rows (docs/statistics.md); `absent_notes` makes sentences of them.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from resources.stage.partition import Partition

LOOKED_FOR: Final = "looked_for"
"""Statistic: what `LookedFor.numbers` gives, by what the rows are."""

MOST_NAMES: Final = 20
"""Names of what is there that are kept."""

_LONGEST_NAME: Final = 60
_ROWS_NOTED: Final = 100
"""Rows whose names are kept as examples for a person."""


class LookedFor:
    """The names that are looked for in rows of one kind.

    what: the rows, for a person: rows, messages, documents. wanted: names by the place in corpus.yaml that gives them.
    """

    def __init__(self, what: str, wanted: Mapping[str, Sequence[str]]) -> None:
        self.what = what
        self._wanted = [(place, name) for place, names in wanted.items() for name in names]
        self._found = [0] * len(self._wanted)
        self._there: dict[str, None] = {}
        self._rows = 0

    @property
    def wants_any(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._wanted)

    @property
    def only(self) -> str:
        """The first name that is looked for."""
        return self._wanted[0][1]

    @property
    def needs_names(self) -> bool:
        """Whether more names are still needed, for callers to whom finding them costs something."""
        return self._rows < _ROWS_NOTED

    def add(self, there: Iterable[str], had: Collection[str] | None = None) -> None:
        """Counts a row. there: names in it. had: the wanted names that it has, if `there` holds other names."""
        self._rows += 1
        held: Any = there if had is None else had
        for place, (_, name) in enumerate(self._wanted):
            if name in held:
                self._found[place] += 1
        if self._rows <= _ROWS_NOTED and len(self._there) < MOST_NAMES:
            self._there |= dict.fromkeys(name[:_LONGEST_NAME] for name in there)

    def numbers(self) -> dict[str, Any]:
        """Returns the counts, for the statistics of a partition: in how many rows of how many each name was found."""
        found: dict[str, dict[str, list[int]]] = {}
        for (place, name), count in zip(self._wanted, self._found, strict=True):
            found.setdefault(place, {})[name] = [count, self._rows]
        return {"found": found, "there": list(self._there)[:MOST_NAMES]}


def numbers_of(*counts: LookedFor) -> dict[str, Any]:
    """Returns the statistic of a partition that looked for names; nothing where it looked for none."""
    held: dict[str, Any] = {}
    for count in (count for count in counts if count.wants_any):
        numbers = count.numbers()
        sums = held.setdefault(count.what, {"found": {}, "there": []})
        for place, names in numbers["found"].items():
            sums["found"].setdefault(place, {}).update(names)
        sums["there"] = list(dict.fromkeys([*sums["there"], *numbers["there"]]))[:MOST_NAMES]
    return {LOOKED_FOR: held} if held else {}


def absent_names(partitions: Sequence[Partition], _: Mapping[str, Any]) -> Iterator[str]:
    """Yields the sentences of `absent_notes`, as the `notes` of a stage by shards of sources."""
    return absent_notes(partitions)


def absent_notes(partitions: Iterable[Partition], what: str | None = "source") -> Iterator[str]:
    """Yields a sentence for each configured name that no row of a source has.

    what: `source`, or what else the partitions' raw files belong to; None for all sources together.
    """
    sources: dict[str, list[Mapping[str, Any]]] = {}
    for partition in partitions:
        shard = partition.shard
        assert shard is not None or not what, "the partitions of shards are given with their raw files"
        source, numbers = shard.source if shard and what else "", partition.record.statistics
        sources.setdefault(source, []).append(numbers.get(LOOKED_FOR, {}))
    for source, held in sources.items():
        yield from _absent(held, f"of {what} {source}" if what else "")


def _absent(held: Iterable[Mapping[str, Any]], of: str) -> Iterator[str]:
    """Yields sentences for the names that nothing has. held: the statistics of all partitions of a source."""
    counted: dict[tuple[str, str, str], list[int]] = {}
    there: dict[str, dict[str, None]] = {}
    for what, numbers in (item for statistics in held for item in statistics.items()):
        there.setdefault(what, {}).update(dict.fromkeys(numbers["there"]))
        for place, names in numbers["found"].items():
            for name, count in names.items():
                sums = counted.setdefault((what, place, name), [0, 0])
                sums[:] = [one + other for one, other in zip(sums, count, strict=True)]
    for (what, place, name), (count, rows) in counted.items():
        if rows and not count:
            yield missing(f"{place} {name!r}", rows, f"{what} {of}".strip(), there[what])


def missing(name: str, rows: int, what: str, there: Iterable[str], *, of: str = "", verb: str = "has it") -> str:
    """Returns the sentence that none of so many rows has a name.

    what: the rows, in words.
    there: the names that they have.
    of: the part of a row that should have the name.
    verb: used in place of "has it".
    """
    held = ", ".join(islice(there, MOST_NAMES)) or "nothing"
    have = "there are" if verb != "has it" else f"their {of} has" if of else "they have"
    return f"{name}: none of {rows:,} {what} {verb}; {have}: {held}"
