"""The protocol of an opened corpus for code that only reads stored partitions."""

from collections.abc import Mapping
from typing import Protocol

from resources.ledger.records import Record
from resources.stage.partition import Partition

Records = Mapping[str | None, Record]
"""Records of an asset by partition; under None that of an asset without partitions."""


class Opened(Protocol):
    """Finds records and their partitions.

    `Corpus` reads its ledger each time. A `View` of the viewer keeps records for a while, a `Look` for good. A `Side`
    of a comparison leaves out partitions that its corpus no longer has.
    """

    def records(self, asset: str) -> Records:
        """Returns the records of an asset; empty for an unknown one."""

    def partition(self, asset: str, key: str | None) -> Partition | None:
        """Returns a stored partition; None if there is none. key: None for an asset without partitions."""

    def handle(self, record: Record) -> Partition:
        """Returns the partition of a record that `records` gave."""
