"""The Dagster objects of a corpus: assets, checks, resources."""

from dataclasses import dataclass
from typing import Any

import dagster as dg

from corpus_assets.checks import corpus_checks
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.asset import TakeOver, stage_asset
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


def assemble(corpus: Corpus, take_over: TakeOver | None = None) -> Assembly:
    """Returns assets, checks and resources of a corpus. take_over: see `stage_asset`."""
    managers = io_managers(corpus.storage, corpus.ledger, corpus.graph)
    return Assembly(
        [stage_asset(corpus, stage, take_over) for stage in corpus.graph],
        corpus_checks(corpus),
        {f"{io}_io_manager": manager for io, manager in managers.items()},
    )
