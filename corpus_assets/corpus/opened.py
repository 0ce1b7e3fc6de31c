"""What an opened corpus is to those who only look at what is stored."""

from collections.abc import Mapping
from typing import Protocol

from resources.ledger.records import Record
from resources.stage.partition import Partition

Records = Mapping[str | None, Record]
"""Records of an asset by partition; under None that of an asset without partitions."""


class Opened(Protocol):
    """Finds records, and reads the partitions that they are of.

    `Corpus` asks its ledger each time; a `View` of the viewer keeps what it asked for a while; a `Look` keeps it for
    good; what a `Side` of a comparison has stored leaves out partitions that its corpus no longer has.
    """

    def records(self, asset: str) -> Records:
        """Returns the records of an asset; none of an asset that there is not."""

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none. key: None for an asset without partitions."""

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record that `records` gave."""
