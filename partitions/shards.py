"""Keeps Dagster's shard partitions equal to the raw files."""

from collections.abc import Collection, Iterable, Iterator

import dagster as dg

from partitions.definitions import shard_set_name
from partitions.removal import remove_partitions
from resources.ledger.ledger import Ledger
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning, Stage

_AT_ONCE = 10_000
"""New keys that Dagster gets at once: it asks SQLite for all of them in one statement, which takes at most 32,766."""


def register_shards(planner: Planner, instance: dg.DagsterInstance) -> None:
    """Adds and removes Dagster's shard partitions until they match the present raw files."""
    for stage in _sets(planner.graph):
        name = shard_set_name(stage.shard_set)
        wanted = [key for key in planner.partitions(stage) if key is not None]
        _add(instance, name, wanted)
        if gone := sorted(set(instance.get_dynamic_partitions(name)) - set(wanted)):
            remove_partitions(instance, name, gone)


def register_recorded_shards(stages: Iterable[Stage], ledger: Ledger, instance: dg.DagsterInstance) -> None:
    """Adds Dagster's shard partitions for raw files with a record, whether or not the files exist."""
    for stage in _sets(stages):
        wanted = sorted(key for key in ledger.records(stage.name) if key is not None)
        _add(instance, shard_set_name(stage.shard_set), wanted)


def any_shard_registered(stages: Iterable[Stage], instance: dg.DagsterInstance) -> bool:
    """Returns whether Dagster knows a shard of any of the stages."""
    return any(instance.get_dynamic_partitions(shard_set_name(stage.shard_set)) for stage in _sets(stages))


def _sets(stages: Iterable[Stage]) -> Iterator[Stage]:
    """Yields the stages whose partitions are the raw files, one for each set of them."""
    return (stage for stage in stages if stage.looks_outside and stage.partitioning is Partitioning.SHARD)


def _add(instance: dg.DagsterInstance, name: str, wanted: Collection[str]) -> None:
    known = set(instance.get_dynamic_partitions(name))
    new = [key for key in wanted if key not in known]
    for start in range(0, len(new), _AT_ONCE):
        instance.add_dynamic_partitions(name, new[start : start + _AT_ONCE])
