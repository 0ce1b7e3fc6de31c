"""What a partition says of itself beside its files: statistics for people, and counters that other stages read."""

from collections.abc import Mapping
from typing import Any

from resources.hashing import value_digest

MAX_EXAMPLES = 10
DROPPED_ROWS = "dropped_rows"
"""Statistic: rows that were dropped for each reason, in words, with a piece of their text."""
SHOWN_ROWS = 2
_PIECE = 80


def dropped_row(place: str, identifier: str, text: str | None, why: str = "") -> str:
    """Returns a dropped row for a person: its place, its id, the reason, and the beginning of its text.

    text: None for a row without text, or whose text must not be kept.
    """
    piece = "" if text is None else f": {beginning(text)}"
    return f"{place}, id {identifier[:_PIECE]!r}{f': {why}' if why else ''}{piece}"


def beginning(text: str) -> str:
    """Returns how a text begins, for a person."""
    return f"{text[:_PIECE]!r}{'...' if len(text) > _PIECE else ''}"


class Counts:
    """Statistics and counters of one partition. segments: digests of content that is in no file, by name."""

    def __init__(self) -> None:
        self.segments: dict[str, str] = {}
        self.counters: dict[str, Any] = {}
        self.statistics: dict[str, Any] = {}

    def count(self, **numbers: Any) -> None:
        """Records numbers about this partition for people: the web UI shows them, no stage reads them."""
        self.statistics |= numbers

    def save_counters(self, name: str, value: Mapping[str, Any]) -> None:
        """Records counters that another stage or a gate reads. They are content: a segment of that name."""
        self.counters[name] = value
        self.segments[name] = value_digest(value)

    def drop(self, reason: str, rows: int = 1, example: str | None = None, shown: str | None = None) -> None:
        """Counts dropped rows by reason, and keeps the first examples. A stage must count every row that it drops.

        example: the row in words; the first of all reasons are kept.
        shown: the row with a piece of its text, from `dropped_row`; the first of each reason are kept. `example` by
            default.
        """
        dropped = self.statistics.setdefault("dropped", {})
        dropped[reason] = dropped.get(reason, 0) + rows
        if example is not None:
            examples = self.statistics.setdefault("dropped_examples", [])
            if len(examples) < MAX_EXAMPLES:
                examples.append(example)
        if (said := shown or example) is not None:
            of_reason = self.statistics.setdefault(DROPPED_ROWS, {}).setdefault(reason, [])
            if len(of_reason) < SHOWN_ROWS:
                of_reason.append(said)

    def shows(self, reason: str) -> bool:
        """Returns whether one more row dropped for a reason would be shown."""
        return len(self.statistics.get(DROPPED_ROWS, {}).get(reason, ())) < SHOWN_ROWS

    def drop_by_source(self, reason: str, rows: Mapping[str, int]) -> None:
        """Counts dropped rows by reason and source, for stages whose partitions hold rows of several sources."""
        self.drop(reason, sum(rows.values()))
        self.statistics.setdefault("dropped_by_source", {})[reason] = dict(rows)

    def dropped(self) -> dict[str, int]:
        """Returns how many rows were dropped so far, by reason."""
        return dict(self.statistics.get("dropped", {}))
