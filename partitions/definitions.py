"""Partition definitions: shards come and go with the raw files, bands and chunks follow from the configuration."""

from collections.abc import Sequence

import dagster as dg


def shard_set(source: str | None = None) -> str:
    """Name of a set of shards in Dagster: the corpus's own, or those of a dataset that reads its own files."""
    return "shard" if source is None else f"shard-{source}"


def shards(source: str | None = None) -> dg.DynamicPartitionsDefinition:
    """Shards: one partition per raw file."""
    return dg.DynamicPartitionsDefinition(name=shard_set(source))


SHARDS = shards()


def static(keys: Sequence[str]) -> dg.StaticPartitionsDefinition:
    """Bands or chunks."""
    return dg.StaticPartitionsDefinition(list(keys))
