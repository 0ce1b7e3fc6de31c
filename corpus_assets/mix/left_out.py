"""Notes on documents that the mix leaves out, for the end of a build."""

from collections import Counter
from collections.abc import Iterable, Iterator

from corpus_assets.mix.repeat import NOT_USED
from resources.stage.partition import Partition

MUCH = 0.1
"""Share of a source's documents from which on a reason is mentioned."""


def left_out_notes(partitions: Iterable[Partition]) -> Iterator[str]:
    """Yields a sentence for each reason that drops many documents of a source, the one with the most first.

    That a source has less than one epoch is no surprise.
    """
    rows, dropped = Counter[str](), Counter[tuple[str, str]]()
    for partition in partitions:
        assert partition.shard is not None, "the partitions of shards are given with their raw files"
        source, numbers = partition.shard.source, partition.record.statistics
        rows[source] += numbers.get("rows_in", 0)
        dropped.update({(source, reason): count for reason, count in numbers.get("dropped", {}).items()})
    for (source, reason), count in sorted(dropped.items(), key=lambda item: (-item[1], item[0])):
        if count > MUCH * rows[source] and reason != NOT_USED:
            words = reason if "." in reason else reason.replace("_", " ")
            share = f"{count / rows[source]:.0%}"
            yield f"source {source}: {count:,} of {rows[source]:,} documents ({share}) are left out as {words}"
