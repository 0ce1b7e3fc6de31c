"""Sums of the numbers in the commit records of other stages, for the report."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from corpus_assets.report.model import BySource
from resources.hashing import keyed_hash
from resources.ledger.ledger import Record
from resources.stage.partition import Partition

BY_SOURCE, DROPPED_BY_SOURCE = "by_source", "dropped_by_source"
_DROPPED = {"dropped", DROPPED_BY_SOURCE}
Built = Mapping[str, Sequence[Partition]]
"""The partitions of all other stages, by asset; an asset that is not configured is absent."""


def records(built: Built, asset: str) -> list[Record]:
    """Returns the commit records of an asset; none if it is not configured."""
    return [partition.record for partition in built.get(asset, ())]


def total(found: Iterable[Record], name: str) -> int:
    """Returns the sum of a number over records; those without it count nothing."""
    return sum(record.statistics.get(name) or 0 for record in found)


def summed(found: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Returns the sums of numbers by name, zeros left out, in the order of the names."""
    sums: Counter[str] = Counter()
    for one in filter(None, found):
        sums.update(one)
    return {name: count for name, count in sorted(sums.items()) if count}


def source_of(partition: Partition) -> str | None:
    """Returns the source of a shard partition; None for others."""
    return None if partition.shard is None else partition.shard.source


def by_source(partitions: Sequence[Partition]) -> BySource | None:
    """Returns the numbers of each source in some partitions; None if one has none.

    A shard has one source, so its numbers are known anyway.
    """
    return _added_up(map(_own_by_source, partitions))


def _own_by_source(partition: Partition) -> Mapping[str, Mapping[str, int]] | None:
    record = partition.record
    for held in (record.statistics, record.counters):
        if BY_SOURCE in held:
            found: Mapping[str, Mapping[str, int]] = held[BY_SOURCE]
            return found
    source, numbers = source_of(partition), record.statistics
    if source is None or "rows_out" not in numbers:
        return None
    return {source: {"documents": numbers["rows_out"], "text_bytes": numbers.get("text_bytes", 0)}}


def _added_up(found: Iterable[Mapping[str, Mapping[str, int]] | None]) -> BySource | None:
    sums: BySource = {}
    for one in found:
        if one is None:
            return None
        for source, numbers in one.items():
            _add(sums.setdefault(source, {}), numbers)
    return sums


def _add(sums: dict[str, int], numbers: Mapping[str, int]) -> None:
    # Not with a counter: its `update` costs several times as much for the few numbers of each of thousands of shards.
    for name, number in numbers.items():
        sums[name] = sums.get(name, 0) + number


def dropped(partitions: Sequence[Partition]) -> dict[str, tuple[int, dict[str, int] | None]]:
    """Returns for each reason how many rows were dropped, and how many of each source, None if it was not counted."""
    reasons = summed(partition.record.statistics.get("dropped", {}) for partition in partitions)
    sources: dict[str, Counter[str]] = {}
    unknown: set[str] = set()
    for partition in partitions:
        if not partition.record.statistics.keys() & _DROPPED:
            continue
        own = _own_dropped(partition)
        for reason, count in partition.record.statistics.get("dropped", {}).items():
            if count and own is None:
                unknown.add(reason)
        for reason, counts in (own or {}).items():
            sources.setdefault(reason, Counter()).update(counts)
    return {
        reason: (count, None if reason in unknown else dict(sources.get(reason, {})))
        for reason, count in reasons.items()
    }


def _own_dropped(partition: Partition) -> Mapping[str, Mapping[str, int]] | None:
    numbers, source = partition.record.statistics, source_of(partition)
    if DROPPED_BY_SOURCE in numbers:
        found: Mapping[str, Mapping[str, int]] = numbers[DROPPED_BY_SOURCE]
        return found
    if source is None:
        return None
    return {reason: {source: count} for reason, count in numbers.get("dropped", {}).items()}


def some(items: Iterable[str], purpose: str, limit: int) -> list[str]:
    """Returns up to `limit` different texts, chosen by keyed hash, in their order."""
    return sorted(_chosen(dict.fromkeys(items), purpose, limit, lambda text: text))


def some_partitions(partitions: Sequence[Partition], purpose: str, limit: int) -> list[Partition]:
    """Returns up to `limit` partitions, chosen by keyed hash."""
    return _chosen(partitions, purpose, limit, lambda partition: partition.name)


def _chosen(items: Iterable[Any], purpose: str, limit: int, name: Callable[[Any], str]) -> list[Any]:
    return sorted(items, key=lambda item: keyed_hash(f"report {purpose}", 0, name(item)))[:limit]


def examples(partitions: Sequence[Partition]) -> Iterator[str]:
    """Yields the examples of dropped rows that the records keep."""
    for partition in partitions:
        yield from map(str, partition.record.statistics.get("dropped_examples", ()))
