"""Assembles assets, checks, jobs, schedule, sensor and resources; holds no logic."""

from dataclasses import dataclass
from typing import Any

import dagster as dg

from corpus_assets.checks import corpus_checks
from corpus_assets.corpus import Corpus
from corpus_assets.schedules import build_job, corpus_schedule, corpus_sensor
from corpus_assets.stage import Seen, asset_key, register_shards, stage_asset
from resources.graph import Partitioning, Stage
from resources.io_managers import io_managers


@dataclass(frozen=True)
class Assembly:
    """The Dagster objects of one corpus."""

    corpus: Corpus
    assets: list[dg.AssetsDefinition]
    checks: list[dg.AssetChecksDefinition]
    resources: dict[str, Any]

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
        jobs=[whole, *_jobs(corpus)],
        schedules=[corpus_schedule(whole)],
        sensors=[corpus_sensor(corpus)],
        resources=parts.resources,
        executor=dg.in_process_executor,
    )


def _jobs(corpus: Corpus) -> list[Any]:
    """One job per group and kind of partition; a Dagster job has one kind of partition."""
    groups: dict[tuple[str, Partitioning], list[Stage]] = {}
    for stage in corpus.graph:
        groups.setdefault((stage.group, stage.partitioning), []).append(stage)
    return [
        dg.define_asset_job(
            f"{group}_{kind.value if kind is not Partitioning.NONE else 'whole'}",
            selection=dg.AssetSelection.assets(*(asset_key(stage.name) for stage in stages)),
            description=f"The {group} assets that have one partition per {kind.value}: "
            + ", ".join(stage.name for stage in stages),
        )
        for (group, kind), stages in groups.items()
    ]


@dg.definitions
def defs() -> dg.Definitions:
    """The code location: the corpus of `$CORPUS_CONFIG`, by default `corpus.yaml` in the working folder."""
    return definitions(Corpus.open())
