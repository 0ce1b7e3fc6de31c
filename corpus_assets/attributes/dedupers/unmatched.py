"""Sentences on patterns of an entry of `dedupers` that no file matches."""

from collections.abc import Iterator, Sequence

from corpus_assets.config.selection.dedupers import Deduper
from corpus_assets.config.selection.kinds.semantic import Semantic
from corpus_assets.config.selection.kinds.substrings import Substrings
from resources.documents.looked_for import missing
from resources.raw_places.files import printable
from resources.stage.partition import Partition


def unmatched(rule: Deduper | Semantic | Substrings, partitions: Sequence[Partition]) -> Iterator[str]:
    """Yields a sentence for each pattern of an entry that no raw file of these partitions matches."""
    shards = [partition.shard for partition in partitions if partition.shard is not None]
    for glob in [rule.glob] if isinstance(rule.glob, str) else rule.glob or []:
        if shards and not any(shard.is_among(rule.sources, glob) for shard in shards):
            paths = (printable(shard.path) for shard in shards)
            yield missing(f"dedupers.{rule.name}.glob {glob!r}", len(shards), "files", paths, verb="matches")
