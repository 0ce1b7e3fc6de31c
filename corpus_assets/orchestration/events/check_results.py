"""Results of asset checks in Dagster: the last ones, the materializations that they saw, and check functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster._core.definitions.decorators.op_decorator import DecoratedOpFunction
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

DONE = (AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED)


class Said(NamedTuple):
    """The last result of a check. seen: the storage id of the materialization that it saw."""

    passed: bool
    description: str | None
    seen: int


def newest(instance: dg.DagsterInstance, assets: Iterable[dg.AssetKey]) -> dict[dg.AssetKey, dg.EventLogRecord]:
    """Returns the newest materialization of each of these assets that has one."""
    entries = (record.asset_entry for record in instance.get_asset_records(list(assets)))
    return {one.asset_key: found for one in entries if (found := one.last_materialization_record) is not None}


def target(event: dg.EventLogRecord) -> AssetCheckEvaluationTargetMaterializationData:
    """Returns a materialization as the result of a check names it."""
    return AssetCheckEvaluationTargetMaterializationData(
        storage_id=event.storage_id, run_id=event.run_id, timestamp=event.timestamp
    )


def last_said(instance: dg.DagsterInstance, keys: Sequence[dg.AssetCheckKey]) -> Mapping[dg.AssetCheckKey, Said]:
    """Returns the last result of each of these checks that is done and saw a materialization."""
    told = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    return {key: said for key, record in told.items() if (said := _said(record)) is not None}


def _said(record: AssetCheckExecutionRecord) -> Said | None:
    if record.status not in DONE or record.event is None or record.event.dagster_event is None:
        return None
    found = record.event.dagster_event.event_specific_data
    assert isinstance(found, dg.AssetCheckEvaluation)
    saw = found.target_materialization_data
    return None if saw is None else Said(found.passed, found.description, saw.storage_id)


def check_function(check: dg.AssetChecksDefinition) -> Callable[[], Any]:
    """Returns the function of a check. Calling the check itself makes a Dagster instance in memory for each call."""
    compute = check.op.compute_fn
    assert isinstance(compute, DecoratedOpFunction)
    return compute.decorated_fn
