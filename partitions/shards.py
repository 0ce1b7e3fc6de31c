"""Keeps Dagster's shard partitions equal to the raw files."""

import dagster as dg

from partitions.definitions import shard_set_name
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning


def register_shards(planner: Planner, instance: dg.DagsterInstance) -> None:
    """Adds and removes Dagster's shard partitions until they are the raw files that are there now."""
    for stage in planner.graph:
        if not stage.looks_outside or stage.partitioning is not Partitioning.SHARD:
            continue
        name = shard_set_name(stage.shard_set)
        wanted = [key for key in planner.partitions(stage) if key is not None]
        known = set(instance.get_dynamic_partitions(name))
        if new := [key for key in wanted if key not in known]:
            instance.add_dynamic_partitions(name, new)
        for key in known - set(wanted):
            instance.delete_dynamic_partition(name, key)
