"""The Dagster run of a build: one run in which every stage is a step, whatever order their partitions come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from uuid import uuid4

import dagster as dg
from dagster._core.execution.api import create_execution_plan
from dagster._core.remote_origin import (
    ManagedGrpcPythonEnvCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.snap import snapshot_from_execution_plan
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from corpus_assets.checking import asset_key

LOCATION, MODULE, REPOSITORY = "corpus", "corpus_assets.definitions", "__repository__"


def add_run(
    instance: dg.DagsterInstance, job: dg.JobDefinition, stages: Iterable[str], tags: Mapping[str, str], folder: Path
) -> dg.DagsterRun:
    """Adds a run of the assets of some stages that is never launched. folder: that of corpus.yaml.

    Its origin puts it on the timeline of the web UI. Its snapshots show the steps.
    """
    keys = {asset_key(name) for name in stages}
    chosen = job.get_subset(asset_selection=keys)
    plan = snapshot_from_execution_plan(create_execution_plan(chosen), chosen.get_job_snapshot_id())
    storage = instance.run_storage
    if not storage.has_job_snapshot(plan.job_snapshot_id):
        if (parent := chosen.get_parent_job_snapshot()) is not None:
            storage.add_job_snapshot(parent)
        storage.add_job_snapshot(chosen.get_job_snapshot())
    run = dg.DagsterRun(
        job_name=chosen.name,
        run_id=str(uuid4()),
        asset_selection=keys,
        step_keys_to_execute=plan.step_keys_to_execute,
        tags={**tags},
        status=dg.DagsterRunStatus.NOT_STARTED,
        job_snapshot_id=plan.job_snapshot_id,
        execution_plan_snapshot_id=storage.add_execution_plan_snapshot(plan),
        remote_job_origin=_origin(chosen.name, folder),
    )
    return storage.add_run(run)


def _origin(job_name: str, folder: Path) -> RemoteJobOrigin:
    """Returns where `corpus ui` finds the job."""
    target = LoadableTargetOrigin(module_name=MODULE, working_directory=str(folder))
    location = ManagedGrpcPythonEnvCodeLocationOrigin(target, LOCATION)
    return RemoteJobOrigin(RemoteRepositoryOrigin(location, REPOSITORY), job_name)
