"""The sums over all partitions of an asset, as one event without a partition: the web UI shows the newest event.

It comes after the partitions' own, and leaves their states alone. It has no data version: it is not content.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from corpus_assets.orchestration.shown.figures import Numbers, figures, megabytes, merged, summary_line
from corpus_assets.orchestration.shown.metadata import by_source_table, effort
from corpus_assets.orchestration.shown.pages import page
from corpus_assets.orchestration.shown.provenance import TOTAL_TAG
from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning, Stage

BACKFILL_TAG = "dagster/backfill"
"""Names the backfill that a run belongs to."""


def told_apart(instance: dg.DagsterInstance, run: dg.DagsterRun, totals: Iterable[dg.AssetMaterialization]) -> bool:
    """Reports sums outside of a run that belongs to a backfill; returns whether it did.

    Dagster's daemon fails a backfill whose runs report a partitioned asset without a partition.
    """
    if BACKFILL_TAG not in run.tags:
        return False
    for event in totals:
        instance.report_runless_asset_event(event)
    return True


def totals(planner: Planner, stages: Iterable[Stage]) -> dict[str, dg.AssetMaterialization]:
    """Returns the event with the sums of each of these assets that has partitions, if any is built."""
    found = {}
    for stage in stages:
        records = planner.built(stage)
        if records and stage.partitioning is not Partitioning.NONE:
            metadata = _metadata(planner, stage, records)
            found[stage.name] = dg.AssetMaterialization(
                asset_key(stage.name), metadata=metadata, tags={TOTAL_TAG: "yes"}
            )
    return found


def _metadata(planner: Planner, stage: Stage, records: Sequence[Record]) -> dict[str, Any]:
    numbers = merged(stage, (record.numbers for record in records))
    numbers |= _of_sequences(planner, stage, numbers)
    stored = sum(file.bytes for record in records for file in record.files)
    built = f"{len(records):,} of {len(planner.partitions(stage)):,}"
    return {
        "summary": summary_line(stage, numbers),
        "partitions built": built,
        "look": dg.MetadataValue.url(page(stage.name)),
        **figures(stage, numbers, drop_reasons(stage, planner.settings.values, records), whole=True),
        **_vocabulary(planner, records),
        **by_source_table(numbers.get("by_source") or _by_source(planner, stage, records)),
        **effort(numbers),
        **({"stored (MB)": megabytes(stored)} if stored else {}),
    }


def _of_sequences(planner: Planner, stage: Stage, numbers: Numbers) -> dict[str, Any]:
    """Returns the tokens and bytes of a shuffled dataset, whose rows are those of the asset that it reads."""
    if "h5_dataset_stats" not in numbers or "tokens" in numbers:
        return {}
    for edge in stage.inputs:
        read = merged(stage, (record.numbers for record in planner.built(planner.graph[edge.asset])))
        if read.get("h5_dataset_stats") == numbers["h5_dataset_stats"]:
            return {name: read[name] for name in ("tokens", "text_bytes", "by_source") if name in read}
    return {}


def _vocabulary(planner: Planner, records: Sequence[Record]) -> dict[str, int]:
    """Returns the size of the vocabulary of the tokenizer that a dataset was made with."""
    for name in records[0].inputs:
        for made in planner.built(planner.graph[name]) if name in planner.graph.stages else ():
            if isinstance(found := made.statistics.get("vocabulary"), int):
                return {"vocabulary": found}
    return {}


def _by_source(planner: Planner, stage: Stage, records: Iterable[Record]) -> dict[str, Mapping[str, Any]]:
    """Returns the sums of each source, for an asset whose partitions are raw files of several sources."""
    if stage.partitioning is not Partitioning.SHARD:
        return {}
    groups: dict[str, list[Record]] = {}
    for record in records:
        if (shard := planner.shard(record.partition)) is not None:
            groups.setdefault(shard.source, []).append(record)
    return {source: _of_source(stage, found) for source, found in groups.items()} if len(groups) > 1 else {}


def _of_source(stage: Stage, records: Sequence[Record]) -> dict[str, Any]:
    numbers = merged(stage, (record.numbers for record in records))
    found: dict[str, Any] = {"files": len(records)}
    before, after = numbers.get("rows_in"), numbers.get("rows_out")
    if before is not None and before != after:
        found[f"{stage.unit_in} in"] = before
    if after is not None:
        found[f"{stage.unit_out} out" if before is not None else stage.unit_out] = after
    found |= {name: numbers[name] for name in ("bytes", "text_bytes", "tokens") if name in numbers}
    stored = sum(file.bytes for record in records for file in record.files)
    return {**found, **({"stored": stored} if stored else {})}
