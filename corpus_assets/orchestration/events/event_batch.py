"""Stores many events of a run at once. Dagster itself makes seven SQLite connections for each event."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

import dagster as dg
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable

_ROWS_AT_ONCE = 200


class EventBatch:
    """Events of one run, stored together when the batch ends."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self._instance = instance
        self._storage = instance.event_log_storage

    def add(self, entries: Sequence[dg.EventLogEntry]) -> int | None:
        """Stores events of one asset; returns the storage id of the last one, None if it is not known yet."""
        self._storage.store_event_batch(entries)
        return None

    def check(self, entries: Sequence[dg.EventLogEntry]) -> None:
        """Stores results of asset checks; in a run, each after its announcement."""
        for entry in entries:
            self._storage.store_event(entry)

    def log(self, entries: Sequence[dg.EventLogEntry]) -> None:
        """Stores events that are of the run alone."""
        for entry in entries:
            self._storage.store_event(entry)


class SqliteEventBatch(EventBatch):
    """A batch in one transaction on the index of all runs, and one on the database of the run."""

    def __init__(self, instance: dg.DagsterInstance, storage: SqliteEventLogStorage, index: Any) -> None:
        super().__init__(instance)
        self._sqlite = storage
        self._index = index
        self.rows: list[dict[str, Any]] = []

    def add(self, entries: Sequence[dg.EventLogEntry]) -> int | None:
        """Stores events of one asset in the index; returns the storage id of the last one."""
        ids = self._index_all(entries)
        self._sqlite._store_asset_event_tags(self._index, entries, ids)
        self._sqlite._store_asset_event(self._index, entries[-1], ids[-1])
        return ids[-1]

    def check(self, entries: Sequence[dg.EventLogEntry]) -> None:
        """Stores results of asset checks; in a run, each after its announcement."""
        ids = self._index_all(entries)
        rows = [_check_row(entry, number) for entry, number in zip(entries, ids, strict=True) if _is_result(entry)]
        self._index.execute(AssetCheckExecutionsTable.insert(), rows)

    def _index_all(self, entries: Sequence[dg.EventLogEntry]) -> list[int]:
        """Stores events in the index; returns their storage ids."""
        rows = [self._sqlite._event_to_row(entry) for entry in entries]
        ids: list[int] = []
        table = SqlEventLogStorageTable
        insert = table.insert().returning(table.c.id, sort_by_parameter_order=True)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            ids += self._index.execute(insert, rows[start : start + _ROWS_AT_ONCE]).scalars()
        self.rows += rows
        return ids

    def log(self, entries: Sequence[dg.EventLogEntry]) -> None:
        """Stores events that are of the run alone."""
        self.rows += [self._sqlite._event_to_row(entry) for entry in entries]


def _is_result(entry: dg.EventLogEntry) -> bool:
    return entry.dagster_event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION


def _check_row(entry: dg.EventLogEntry, storage_id: int) -> dict[str, Any]:
    """Returns the result of an asset check as a row of the table of the last results."""
    assert entry.dagster_event is not None
    found = entry.dagster_event.event_specific_data
    assert isinstance(found, dg.AssetCheckEvaluation)
    status = AssetCheckExecutionRecordStatus.SUCCEEDED if found.passed else AssetCheckExecutionRecordStatus.FAILED
    target = found.target_materialization_data
    return {
        "asset_key": found.asset_key.to_string(),
        "check_name": found.check_name,
        "run_id": entry.run_id,
        "execution_status": status.value,
        "evaluation_event": dg.serialize_value(entry),
        "evaluation_event_timestamp": datetime.fromtimestamp(entry.timestamp, UTC).replace(tzinfo=None),
        "evaluation_event_storage_id": storage_id,
        "materialization_event_storage_id": target.storage_id if target else None,
        "partition": found.partition,
    }


@contextmanager
def event_batch(instance: dg.DagsterInstance, run_id: str) -> Iterator[EventBatch]:
    """Begins a batch of events of a run, which is stored when the block ends, or not at all if the block fails.

    Databases other than SQLite have their own batches.
    """
    storage = instance.event_log_storage
    if type(storage) is not SqliteEventLogStorage:
        yield EventBatch(instance)
        return
    with ExitStack() as open_index:
        batch = SqliteEventBatch(instance, storage, open_index.enter_context(storage.index_transaction()))
        yield batch
    with storage.run_connection(run_id) as connection:
        batch.rows.sort(key=itemgetter("timestamp"))
        for start in range(0, len(batch.rows), _ROWS_AT_ONCE):
            connection.execute(SqlEventLogStorageTable.insert(), batch.rows[start : start + _ROWS_AT_ONCE])
