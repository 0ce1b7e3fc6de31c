"""A gate for sources that the filter drops completely; and notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.config.selection.presets import is_of_preset
from resources.documents.looked_for import absent_notes
from resources.ledger.ledger import Record
from resources.shards.listing import Listing
from resources.stage.partition import Partition

TALLIES = "measured"
"""Statistic: for each measuring rule, how many documents it saw, and in how many it found something."""


def filtered_losses(records: Mapping[str | None, Record], settings: Mapping[str, Any], listing: Listing) -> list[str]:
    """Returns the sources whose documents the filter all drops (a gate over all partitions)."""
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
    """Yields a sentence for each source with dropped documents, and for each rule that never found a span."""
    sources: dict[str, list[Record]] = {}
    for partition in partitions:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        sources.setdefault(partition.shard.source, []).append(partition.record)
    for source, records in sources.items():
        if dropped := _dropped(records):
            rows = sum(record.statistics.get("rows_in", 0) for record in records)
            yield f"source {source}: the filter drops {dropped.total():,} of {rows:,} documents ({_words(dropped)})"
    yield from nothing_found(partitions, "filter")


def nothing_found(partitions: Sequence[Partition], where: str) -> Iterator[str]:
    """Yields a sentence for each rule that never found a span, and for each expression that nothing matches.

    where: the section of the rules.
    """
    yield from _nothing_measured((partition.record for partition in partitions), where)
    yield from absent_notes(partitions, None)


def _nothing_measured(records: Iterable[Record], where: str) -> Iterator[str]:
    asked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for record in records:
        for rule, (seen, measured) in record.statistics.get(TALLIES, {}).items():
            asked[rule] += seen
            found[rule] += measured
    for rule in (rule for rule, seen in asked.items() if seen and not found[rule] and not is_of_preset(rule)):
        yield f"{where} rule {rule}: none of {asked[rule]:,} documents has such a span (is its type spelt right?)"


def _dropped(records: Sequence[Record]) -> Counter[str]:
    dropped: Counter[str] = Counter()
    for record in records:
        dropped.update(record.statistics.get("dropped", {}))
    return dropped


def _words(dropped: Mapping[str, int]) -> str:
    return ", ".join(f"{rule} {count:,}" for rule, count in sorted(dropped.items()))
