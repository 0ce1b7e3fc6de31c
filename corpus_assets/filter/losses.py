"""Sources that the filter drops wholly: the reasons to hold back what would be made without them; and notes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from resources.ledger import Record
from resources.shards import Listing
from resources.stage.partition import Partition


def filtered_losses(records: Mapping[str | None, Record], settings: Mapping[str, Any], listing: Listing) -> list[str]:
    """Returns the sources that have documents, all of which the filter drops (a gate over all partitions)."""
    faults = []
    for source in settings["sources"]:
        found = [records[key] for key in listing.keys([source["name"]]) if key in records]
        dropped = _dropped(found)
        kept = sum(record.statistics.get("rows_out", 0) for record in found)
        if dropped and not kept and not source["may_be_empty"] and source["epochs"]:
            faults.append(
                f"source {source['name']}: the filter drops all {dropped.total():,} documents ({_words(dropped)}) "
                "(`may_be_empty: true` goes on)"
            )
    return faults


def filter_notes(partitions: Sequence[Partition], _: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each source of which documents were dropped, with the rules."""
    sources: dict[str, list[Record]] = {}
    for partition in partitions:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        sources.setdefault(partition.shard.source, []).append(partition.record)
    for source, records in sources.items():
        if dropped := _dropped(records):
            rows = sum(record.statistics.get("rows_in", 0) for record in records)
            yield f"source {source}: the filter drops {dropped.total():,} of {rows:,} documents ({_words(dropped)})"


def _dropped(records: Sequence[Record]) -> Counter[str]:
    dropped: Counter[str] = Counter()
    for record in records:
        dropped.update(record.statistics.get("dropped", {}))
    return dropped


def _words(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{rule} {count:,}" for rule, count in sorted(dropped.items()))
