"""What a plan says: the status of each partition, and why."""

from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from resources.ledger.ledger import partition_name


class Status(StrEnum):
    """The status of a partition, compared with what would be computed now."""

    FRESH = "fresh"
    MISSING = "missing"
    STALE = "stale"
    WAITING = "waiting"


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The status of one partition and the reason in words (empty when fresh).

    blocked: the first input that is not fresh, if any.
    held_back: the closed gate that holds the partition back, in words, if one does.
    rewritten: True for a raw file that was rewritten with the same content: its record only needs the new time.
    """

    asset: str
    partition: str | None
    status: Status
    reason: str = ""
    blocked: str = ""
    held_back: str = ""
    rewritten: bool = False

    @property
    def name(self) -> str:
        """The partition as messages name it."""
        return partition_name(self.asset, self.partition)


@dataclass
class Plan:
    """Decisions for every expected partition, in the order the data flows; orphans; and notes on the raw files."""

    decisions: list[Decision] = field(default_factory=list)
    orphans: list[tuple[str, str | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Returns the number of partitions with each status."""
        counts = {status.value: 0 for status in Status}
        for decision in self.decisions:
            counts[decision.status] += 1
        return counts

    def of(self, asset: str) -> list[Decision]:
        """Returns the decisions of one asset."""
        return [decision for decision in self.decisions if decision.asset == asset]
