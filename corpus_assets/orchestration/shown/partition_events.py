"""Dagster's events of a partition: computed, with inputs and reason, or failed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.shown.metadata import partition_metadata
from corpus_assets.orchestration.shown.provenance import DATA_VERSION
from resources.ledger.ledger import Record
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

ASKED, FRESH = "asked for", "fresh, not computed again"
_MAX_LISTED = 5
_EVENTS_EACH = 3
"""How many events per partition are read, on average, to find why it was computed."""


@dataclass(frozen=True)
class Materializations:
    """Makes the events of the partitions of one stage.

    reasons: all for which it may drop rows. provenance: tags that say what it read.
    """

    corpus: Corpus
    stage: Stage
    reasons: Sequence[str]
    provenance: Mapping[str, str]

    def of(self, record: Record, why: str, *, new: bool) -> dg.AssetMaterialization:
        """Returns the event of a partition. why: the plan's reason. new: False if it was found fresh."""
        reason = why or (ASKED if new else FRESH)
        place = self.corpus.storage.place
        metadata = partition_metadata(self.stage, record, self.reasons, place=place, why=reason)
        tags = {DATA_VERSION: record.digest, "dagster/code_version": record.code_version, **self.provenance}
        return dg.AssetMaterialization(
            asset_key(record.asset), partition=record.partition, metadata=metadata, tags=tags
        )


def failure(outcome: Outcome) -> dg.AssetObservation:
    """Returns the event by which the web UI shows, on the page of a partition, why it failed."""
    metadata = {"last failure": outcome.error or ""}
    return dg.AssetObservation(asset_key(outcome.asset), partition=outcome.partition, metadata=metadata)


def step_failure_message(failures: Sequence[str], asked: int) -> str:
    """Returns the failures of a step in words, each reason once. asked: how many partitions it was to compute."""
    lines = _each_once(failures)
    shown = "\n".join(lines[:_MAX_LISTED])
    more = f"\nand {len(lines) - _MAX_LISTED} more" if len(lines) > _MAX_LISTED else ""
    return f"{len(failures)} of {asked} partitions failed:\n{shown}{more}"


def _each_once(failures: Sequence[str]) -> list[str]:
    """Returns each reason once, with the first partition that has it and the number of the others."""
    by_reason: dict[str, list[str]] = {}
    for line in failures:
        name, _, reason = line.partition(": ")
        by_reason.setdefault(reason, []).append(name)
    return [
        f"{names[0]}: {reason}" + (f" (and {len(names) - 1} more)" if len(names) > 1 else "")
        for reason, names in by_reason.items()
    ]


def last_reasons(
    stage: Stage, partitions: Collection[str | None], instance: dg.DagsterInstance
) -> dict[str | None, str]:
    """Returns why each of these partitions was computed the last time, as far as Dagster remembers."""
    if not partitions:
        return {}
    key = asset_key(stage.name)
    named = [partition for partition in partitions if partition is not None]
    wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=named) if named else key
    found: dict[str | None, str] = {}
    for record in instance.fetch_materializations(wanted, limit=_EVENTS_EACH * len(partitions)).records:
        event = record.asset_materialization
        if event is not None and (why := event.metadata.get("why")) and event.partition not in found:
            found[event.partition] = str(why.value)
    return {partition: why for partition, why in found.items() if partition in partitions}
