"""The Dagster objects of a corpus: assets, checks, resources."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from corpus_assets.checks import corpus_checks
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.asset import OnOutcome, stage_asset
from resources.io_managers import io_managers


@dataclass(frozen=True)
class Assembly:
    """The Dagster objects of one corpus."""

    assets: list[dg.AssetsDefinition]
    checks: list[dg.AssetChecksDefinition]
    resources: dict[str, Any]

    def job(self) -> dg.JobDefinition:
        """Returns the job that materializes any of the assets, without their checks."""
        found = dg.Definitions(assets=self.assets, resources=self.resources, executor=dg.in_process_executor)
        return found.resolve_implicit_global_asset_job_def()

    def check_job(self, checks: Sequence[dg.AssetChecksDefinition]) -> dg.JobDefinition:
        """Returns a job that runs only the given checks."""
        chosen = dg.define_asset_job("asset_checks", dg.AssetSelection.checks(*checks))
        found = dg.Definitions(
            assets=self.assets,
            asset_checks=checks,
            jobs=[chosen],
            resources=self.resources,
            executor=dg.in_process_executor,
        )
        return found.resolve_job_def("asset_checks")


def assemble(corpus: Corpus, on_outcome: OnOutcome | None = None) -> Assembly:
    """Returns assets, checks and resources of a corpus; its assets call `on_outcome` for every computed partition."""
    managers = io_managers(corpus.storage, corpus.ledger)
    return Assembly(
        [stage_asset(corpus, stage, on_outcome) for stage in corpus.graph],
        corpus_checks(corpus),
        {f"{io}_io_manager": manager for io, manager in managers.items()},
    )
