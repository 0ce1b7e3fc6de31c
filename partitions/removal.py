"""Removes many of Dagster's dynamic partitions at once; Dagster itself has two connections and a commit for each."""

from collections.abc import Sequence

import dagster as dg
from dagster._core.storage.event_log import SqlEventLogStorage
from dagster._core.storage.event_log.schema import DynamicPartitionsTable as Table

_AT_ONCE = 500
"""Keys of one statement. SQLite before 3.32 takes at most 999 values."""


def remove_partitions(instance: dg.DagsterInstance, name: str, keys: Sequence[str]) -> None:
    """Removes the keys of a dynamic partitions definition, all in one transaction where Dagster's database is SQL."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqlEventLogStorage):
        for key in keys:
            instance.delete_dynamic_partition(name, key)
        return
    with storage.index_connection() as connection:
        for start in range(0, len(keys), _AT_ONCE):
            these = Table.c.partition.in_(keys[start : start + _AT_ONCE])
            connection.execute(Table.delete().where(Table.c.partitions_def_name == name, these))
