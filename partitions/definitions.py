"""Partition definitions: shards come and go with the raw files, bands and chunks follow from the configuration."""

from collections.abc import Sequence

import dagster as dg

SHARDS = dg.DynamicPartitionsDefinition(name="shard")


def static(keys: Sequence[str]) -> dg.StaticPartitionsDefinition:
    """Bands or chunks."""
    return dg.StaticPartitionsDefinition(list(keys))
