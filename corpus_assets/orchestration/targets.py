"""The newest materializations of assets, as results of asset checks name what they saw."""

from collections.abc import Iterable

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster._core.event_api import EventLogRecord


def newest(instance: dg.DagsterInstance, assets: Iterable[dg.AssetKey]) -> dict[dg.AssetKey, EventLogRecord]:
    """Returns the newest materialization of each of these assets that has one."""
    entries = (record.asset_entry for record in instance.get_asset_records(list(assets)))
    return {one.asset_key: found for one in entries if (found := one.last_materialization_record) is not None}


def target(event: EventLogRecord) -> AssetCheckEvaluationTargetMaterializationData:
    """Returns a materialization as the result of a check names it."""
    return AssetCheckEvaluationTargetMaterializationData(
        storage_id=event.storage_id, run_id=event.run_id, timestamp=event.timestamp
    )
