"""Partition definitions: shards come and go with the raw files; bands, ranges and chunks follow from corpus.yaml."""

from collections.abc import Sequence

import dagster as dg

from resources.stage.declaration import Partitioning, Stage
from resources.stage.settings import Settings


def shard_set_name(dataset: str | None = None) -> str:
    """Returns Dagster's name of a set of shards: the corpus's own, or those of a dataset that reads its own files."""
    return "shard" if dataset is None else f"shard-{dataset}"


def shards(dataset: str | None = None) -> dg.DynamicPartitionsDefinition:
    """Returns the partitions of shards: one per raw file."""
    return dg.DynamicPartitionsDefinition(name=shard_set_name(dataset))


def static(keys: Sequence[str]) -> dg.StaticPartitionsDefinition:
    """Returns the partitions of bands, ranges or chunks, by their keys."""
    return dg.StaticPartitionsDefinition(list(keys))


def partitions_def(settings: Settings, stage: Stage) -> dg.PartitionsDefinition[str] | None:
    """Returns the partitions of a stage; None if it has none."""
    keys = {Partitioning.BAND: settings.bands, Partitioning.RANGE: settings.ranges, Partitioning.CHUNK: settings.chunks}
    if stage.partitioning is Partitioning.SHARD:
        return shards(stage.shard_set)
    return static(keys[stage.partitioning]()) if stage.partitioning in keys else None
