"""Dagster's mapping from upstream partitions to downstream ones, for each kind of edge."""

import dagster as dg

from resources.stage.declaration import Partitioning, Reads


def mapping(reads: Reads, upstream: Partitioning) -> dg.PartitionMapping | None:
    """Returns Dagster's mapping for an edge; None for Dagster's default: the same key, or the only partition."""
    if upstream is Partitioning.NONE or reads is Reads.SAME:
        return None
    return dg.AllPartitionMapping()
