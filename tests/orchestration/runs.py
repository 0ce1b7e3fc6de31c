"""Dagster runs on a small corpus, as the web UI and `dagster asset materialize` start them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG as RANGE_END
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_START_TAG as RANGE_START

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.events.check_results import DONE
from corpus_assets.orchestration.freshness.checks import check_key
from corpus_assets.orchestration.shown.provenance import is_total
from partitions.shards import register_shards
from resources.planning.planner import Status
from tests.build.small import opened


class Runs:
    """One corpus, one Dagster instance, and what the runs between them leave behind."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.folder = folder
        self.instance = instance

    @property
    def corpus(self) -> Corpus:
        """The corpus as a new process would open it."""
        return opened(self.folder)

    def register(self) -> None:
        """Make the shard partitions known."""
        register_shards(self.corpus.planner(), self.instance)

    def shards(self) -> list[str]:
        """Shard partitions in Dagster's order."""
        return list(self.instance.get_dynamic_partitions("shard"))

    def materialize(
        self,
        *assets: str,
        partition: str | None = None,
        between: tuple[str, str] | None = None,
        extra: list[Any] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> dg.ExecuteInProcessResult:
        """One run of the given assets; `between` are the first and last key of a range."""
        assembly = assemble(self.corpus)
        tags = {RANGE_START: between[0], RANGE_END: between[1]} if between else {}
        keys = [asset_key(name) for name in assets]
        return dg.materialize(
            [*assembly.assets, *(extra or [])],
            selection=dg.AssetSelection.assets(*keys, *(one.key for one in extra or [])),
            partition_key=partition,
            tags=tags,
            instance=self.instance,
            resources=assembly.resources,
            run_config={"ops": config or {}},
            raise_on_error=False,
        )

    def _all_events(self, asset: str) -> list[dg.AssetMaterialization]:
        records = self.instance.fetch_materializations(asset_key(asset), limit=1000).records
        return [found for record in records if (found := record.asset_materialization)]

    def events(self, asset: str) -> list[dg.AssetMaterialization]:
        """Every materialization of the partitions of an asset, newest first."""
        return [event for event in self._all_events(asset) if not is_total(event)]

    def total(self, asset: str) -> dg.AssetMaterialization:
        """The newest event of an asset, which must be the sums over its partitions."""
        newest = self._all_events(asset)[0]
        assert is_total(newest)
        return newest

    def marks(self) -> dict[str, tuple[bool, str]]:
        """The last results of the check `fresh`: whether it passed, and what it said."""
        keys = {check_key(stage.name): stage.name for stage in self.corpus.graph}
        found = self.instance.event_log_storage.get_latest_asset_check_execution_by_key(list(keys))
        said = {keys[key]: record.evaluation for key, record in found.items() if record.status in DONE}
        return {name: (one.passed, one.description or "") for name, one in said.items() if one is not None}

    def latest(self, asset: str) -> dict[str | None, dg.AssetMaterialization]:
        """The newest materialization of each partition, without those that are sums over partitions."""
        found: dict[str | None, dg.AssetMaterialization] = {}
        for event in self.events(asset):
            if not is_total(event):
                found.setdefault(event.partition, event)
        return found

    def versions(self, asset: str) -> dict[str | None, str]:
        """Newest data version of each partition."""
        return {key: (event.tags or {})["dagster/data_version"] for key, event in self.latest(asset).items()}

    def recorded(self, asset: str) -> dict[str | None, str]:
        """Content digests as the commit records have them."""
        return {key: record.digest for key, record in self.corpus.ledger.records(asset).items()}

    def not_fresh(self) -> list[tuple[str, str | None]]:
        """The partitions that are not fresh in the plan."""
        return [(d.asset, d.partition) for d in self.corpus.planner().plan().decisions if d.status is not Status.FRESH]


def failure_message(result: dg.ExecuteInProcessResult) -> str:
    """The messages of the failed steps of a run."""
    events = result.filter_events(lambda event: event.is_step_failure)
    errors = [event.step_failure_data.error for event in events]
    return "\n".join(error.message for error in errors if error is not None)
