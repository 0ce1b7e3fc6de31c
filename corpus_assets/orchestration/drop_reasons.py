"""The reasons for which rows were dropped, from commit records."""

from collections.abc import Iterable

from resources.ledger import Record


def drop_reasons(records: Iterable[Record]) -> list[str]:
    """Returns all reasons for which any of the partitions dropped rows, sorted."""
    return sorted({reason for record in records for reason in record.statistics.get("dropped", {})})
