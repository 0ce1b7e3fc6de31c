"""Assembles assets, checks, jobs, schedule, sensor and resources; holds no logic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from corpus_assets.checks import corpus_checks
from corpus_assets.corpus import Corpus
from corpus_assets.schedules import build_job, corpus_schedule, corpus_sensor, group_jobs
from corpus_assets.stage import Seen, register_shards, stage_asset
from resources.io_managers import io_managers


@dataclass(frozen=True)
class Assembly:
    """The Dagster objects of one corpus."""

    corpus: Corpus
    assets: list[dg.AssetsDefinition]
    checks: list[dg.AssetChecksDefinition]
    resources: dict[str, Any]

    def job(self) -> dg.JobDefinition:
        """The job that materializes any of the assets, without their checks."""
        found = dg.Definitions(assets=self.assets, resources=self.resources, executor=dg.in_process_executor)
        return found.resolve_implicit_global_asset_job_def()

    def check_job(self, checks: Sequence[dg.AssetChecksDefinition]) -> dg.JobDefinition:
        """A job that runs the given checks and nothing else."""
        chosen = dg.define_asset_job("asset_checks", dg.AssetSelection.checks(*checks))
        found = dg.Definitions(
            assets=self.assets,
            asset_checks=checks,
            jobs=[chosen],
            resources=self.resources,
            executor=dg.in_process_executor,
        )
        return found.resolve_job_def("asset_checks")

    def register(self, instance: dg.DagsterInstance) -> None:
        """Make Dagster's shard partitions equal to the raw files that are there."""
        register_shards(self.corpus, instance)


def assemble(corpus: Corpus, seen: Seen | None = None) -> Assembly:
    """Assets, checks and resources of a corpus. `seen` hears of every partition that is computed."""
    managers = io_managers(str(corpus.storage.root))
    return Assembly(
        corpus,
        [stage_asset(corpus, stage, seen) for stage in corpus.graph],
        corpus_checks(corpus),
        {f"{kind}_io_manager": manager for kind, manager in managers.items()},
    )


def definitions(corpus: Corpus) -> dg.Definitions:
    """Everything the web UI and `dagster asset materialize` see."""
    parts = assemble(corpus)
    whole = build_job(corpus)
    return dg.Definitions(
        assets=parts.assets,
        asset_checks=parts.checks,
        jobs=[whole, *group_jobs(corpus)],
        schedules=[corpus_schedule(whole)],
        sensors=[corpus_sensor(corpus)],
        resources=parts.resources,
        executor=dg.in_process_executor,
    )


@dg.definitions
def defs() -> dg.Definitions:
    """The code location: the corpus of `$CORPUS_CONFIG`, by default `corpus.yaml` in the working folder."""
    return definitions(Corpus.open())
