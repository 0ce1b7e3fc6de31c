"""Dagster's events of a run that Dagster does not execute itself: plain values, not yet stored."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import dagster as dg
from dagster._core.definitions.asset_checks.asset_check_evaluation import (
    AssetCheckEvaluationPlanned,
    AssetCheckEvaluationTargetMaterializationData,
)
from dagster._core.events import AssetMaterializationPlannedData, AssetObservationData, StepMaterializationData
from dagster._core.execution.plan.objects import ErrorSource, StepFailureData, StepSuccessData
from dagster._core.instance.utils import RUNLESS_JOB_NAME, RUNLESS_RUN_ID
from dagster_shared.error import SerializableErrorInfo

INFO, ERROR = 20, 40
NO_RUN, NO_JOB = RUNLESS_RUN_ID, RUNLESS_JOB_NAME
"""The run id of events that belong to no run."""
Entry = dg.EventLogEntry
"""An event as it is stored."""


class RunEvents:
    """Makes events of one run."""

    def __init__(self, run_id: str, job_name: str) -> None:
        self._run_id = run_id
        self._job_name = job_name

    def entry(self, event: dg.DagsterEvent, when: float) -> dg.EventLogEntry:
        """Returns an event as it is stored. when: seconds since the epoch."""
        level = ERROR if event.is_failure else INFO
        make: Callable[..., dg.EventLogEntry] = dg.EventLogEntry
        return make(None, level, "", self._run_id, when, event.step_key, self._job_name, event)

    def _event(self, kind: dg.DagsterEventType, step: str | None, message: str, data: Any = None) -> dg.DagsterEvent:
        return dg.DagsterEvent(
            kind.value, self._job_name, event_specific_data=data, message=message, pid=os.getpid(), step_key=step
        )

    def run_starts(self, message: str) -> dg.DagsterEvent:
        """Returns the start of the run."""
        return self._event(dg.DagsterEventType.RUN_START, None, message)

    def run_succeeds(self, message: str) -> dg.DagsterEvent:
        """Returns the end of a run in which all went well."""
        return self._event(dg.DagsterEventType.RUN_SUCCESS, None, message)

    def step_starts(self, step: str, message: str) -> dg.DagsterEvent:
        """Returns the start of a step."""
        return self._event(dg.DagsterEventType.STEP_START, step, message)

    def step_succeeds(self, step: str, seconds: float, message: str) -> dg.DagsterEvent:
        """Returns the end of a step without failures."""
        data: Callable[[float], Any] = StepSuccessData
        return self._event(dg.DagsterEventType.STEP_SUCCESS, step, message, data(seconds * 1000))

    def step_fails(self, step: str, message: str) -> dg.DagsterEvent:
        """Returns the end of a step with failures."""
        error = SerializableErrorInfo(message, [], "Failure")
        return self._event(dg.DagsterEventType.STEP_FAILURE, step, message, _failure_data(error))

    def planned(self, step: str, key: dg.AssetKey, partition: str | None) -> dg.DagsterEvent:
        """Returns the announcement of a partition, which counts as failed if the run ends without it."""
        data = AssetMaterializationPlannedData(key, partition=partition)
        return dg.DagsterEvent.build_asset_materialization_planned_event(self._job_name, step, data)

    def observed(self, step: str, observation: dg.AssetObservation) -> dg.DagsterEvent:
        """Returns the observation event of a partition."""
        data = AssetObservationData(observation)
        return self._event(dg.DagsterEventType.ASSET_OBSERVATION, step, "Observed.", data)

    def materialized(self, step: str, materialization: dg.AssetMaterialization) -> dg.DagsterEvent:
        """Returns the event of a computed partition."""
        data = StepMaterializationData(materialization)
        return self._event(dg.DagsterEventType.ASSET_MATERIALIZATION, step, "Materialized value.", data)

    def check_planned(self, key: dg.AssetCheckKey) -> dg.DagsterEvent:
        """Returns the announcement of an asset check."""
        data = AssetCheckEvaluationPlanned(asset_key=key.asset_key, check_name=key.name)
        return self._event(dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED, None, f"Checking {key.name}.", data)

    def checked(
        self,
        key: dg.AssetCheckKey,
        found: dg.AssetCheckResult,
        blocking: bool,
        target: AssetCheckEvaluationTargetMaterializationData | None,
    ) -> dg.DagsterEvent:
        """Returns the result of an asset check. target: the newest materialization that it saw."""
        metadata: Mapping[str, Any] = found.metadata or {}
        data = dg.AssetCheckEvaluation(
            key.asset_key, key.name, found.passed, metadata, target, found.severity, found.description, blocking
        )
        return self._event(dg.DagsterEventType.ASSET_CHECK_EVALUATION, None, f"Checked {key.name}.", data)


def in_words(error: SerializableErrorInfo) -> str:
    """Returns the message of the original error, which Dagster wraps in errors that only give the place."""
    while error.cause is not None:
        error = error.cause
    return error.message.strip()


def _failure_data(error: SerializableErrorInfo) -> StepFailureData:
    make: Callable[..., StepFailureData] = StepFailureData
    return make(error, None, ErrorSource.USER_CODE_ERROR)
