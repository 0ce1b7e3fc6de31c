"""How an upstream partition maps to a downstream one, as Dagster has it."""

import dagster as dg

from resources.stage.declaration import Partitioning, Reads


def mapping(reads: Reads, upstream: Partitioning) -> dg.PartitionMapping | None:
    """None lets Dagster use its default: the same key, or the only partition."""
    if upstream is Partitioning.NONE or reads is Reads.SAME:
        return None
    return dg.AllPartitionMapping()
