"""A comparison as text for a terminal, and as a page that needs no other file."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from corpus_assets.diff.comparison import ABSENT, Count, Difference, Value
from corpus_assets.html.pages import SCRIPT, STYLE, inline, render
from resources.planning.changes import shortened

SHOWN = 200
_NOT_COUNTED = "all"
_WIDTH = 120
Columns = list[tuple[str, str]]


class Section(NamedTuple):
    """A table of a comparison. columns: (label, kind), as the tables of pages have them."""

    title: str
    columns: Columns
    rows: list[list[Any]]
    note: str = ""


def sections(found: Difference) -> Iterator[Section]:
    """Yields the tables of a comparison that have anything in them."""
    if found.configuration:
        columns: Columns = [("key", "text"), ("before", "long"), ("now", "long")]
        rows = [[one.key, *_values(one)] for one in found.configuration]
        yield Section("Configuration", columns, rows)
    if found.documents is not None:
        yield from _documents(found)
    for title, of, counts in (
        ("Numbers of sources", "source", found.sources),
        ("Splits", "split", found.splits),
        ("Datasets", "dataset", found.datasets),
        ("Near-duplicates", "of", found.duplicates),
    ):
        if counts:
            columns = [(of, "text"), ("number", "text"), *_PAIR]
            yield Section(title, columns, [[one.of, one.measure.replace("_", " "), *_pair(one)] for one in counts])
    if found.dropped:
        columns = [("asset", "text"), ("reason", "text"), ("source", "text"), *_PAIR]
        rows = [[one.of, one.reason, one.measure or _NOT_COUNTED, *_pair(one)] for one in found.dropped]
        yield Section("Dropped documents", columns, rows)
    if found.assets:
        rows = [[one.asset, one.what] for one in found.assets]
        yield Section("Assets", [("asset", "text"), ("what differs", "long")], rows)


_PAIR: Columns = [("before", "count"), ("now", "count"), ("difference", "number")]


def _pair(count: Count) -> list[Any]:
    return [count.old, count.new, f"{(count.new or 0) - (count.old or 0):+,}"]


def _values(value: Value) -> tuple[str, str]:
    """Returns a value before and now."""
    before = ABSENT if value.what == "added" else json.dumps(value.old, ensure_ascii=False)
    now = ABSENT if value.what == "removed" else json.dumps(value.new, ensure_ascii=False)
    return shortened(before, now, _WIDTH)


def _documents(found: Difference) -> Iterator[Section]:
    columns: Columns = [("source", "text"), ("before", "count"), ("now", "count")]
    columns += [(kind, "count") for kind in ("added", "removed", "changed")]
    columns.append(("such as", "long"))
    rows = [
        [source, one.old, one.new, one.added, one.removed, one.changed, _examples(one.examples)]
        for source, one in (found.documents or {}).items()
        if one.added or one.removed or one.changed
    ]
    if rows:
        yield Section("Documents", columns, rows)


def _examples(examples: dict[str, list[str]]) -> str:
    return "; ".join(f"{kind}: {', '.join(ids)}" for kind, ids in examples.items())


def html(found: Difference) -> str:
    """Returns the comparison as a page."""
    return render(
        "corpus_assets.diff",
        "diff.html",
        static="",
        style=inline(STYLE),
        script=inline(SCRIPT),
        found=found,
        sections=cut(list(sections(found))),
    )


def cut(given: Sequence[Section]) -> list[Section]:
    """Returns tables with their first rows alone, and how many more there are."""
    return [
        one._replace(rows=one.rows[:SHOWN], note=f"and {len(one.rows) - SHOWN:,} more, which --json has")
        if len(one.rows) > SHOWN
        else one
        for one in given
    ]
