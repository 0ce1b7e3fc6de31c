"""The factory: one Dagster asset from one stage. Ledger, engine, events, metadata and lineage live here once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from corpus_assets.corpus import Corpus, Pending
from corpus_assets.metadata import definition_metadata, description, drop_reasons, partition_metadata
from partitions.definitions import shard_set, shards, static
from partitions.mappings import mapping
from resources.execute import Outcome
from resources.graph import Partitioning, Stage
from resources.ledger import Record

OWNER = "team:corpus"
DRIVER_TAG = "corpus/driver"
_MAX_LISTED = 5

Seen = Callable[[Outcome], None]


class StepConfig(dg.Config):
    """What a person may set when materializing by hand."""

    force: bool = False


def asset_key(name: str) -> dg.AssetKey:
    """Key of a stage; a slash in its name makes a prefix."""
    return dg.AssetKey(name.split("/"))


def partitions_def(corpus: Corpus, stage: Stage) -> dg.PartitionsDefinition[str] | None:
    """Dagster's partitions of a stage."""
    if stage.partitioning is Partitioning.SHARD:
        return shards(stage.source)
    if stage.partitioning is Partitioning.BAND:
        return static(corpus.settings.bands())
    if stage.partitioning is Partitioning.CHUNK:
        return static(corpus.settings.chunks())
    return None


def stage_asset(corpus: Corpus, stage: Stage, seen: Seen | None = None) -> dg.AssetsDefinition:
    """The asset of a stage, over any set of its partitions; computes those of them that are not fresh."""

    @dg.multi_asset(
        name=stage.name.replace("/", "__").replace("-", "_").replace(".", "_"),
        outs={
            "result": dg.AssetOut(
                key=asset_key(stage.name),
                io_manager_key=f"{stage.kind}_io_manager",
                is_required=False,
                description=description(stage),
                code_version=stage.code_version,
                group_name=stage.group,
                kinds={*stage.tools, "python"},
                owners=[OWNER],
                metadata=definition_metadata(stage),
            )
        },
        deps=[
            dg.AssetDep(
                asset_key(edge.asset),
                partition_mapping=mapping(edge.mapping, corpus.graph[edge.asset].partitioning),
            )
            for edge in stage.inputs
        ],
        partitions_def=partitions_def(corpus, stage),
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=False,
    )
    def body(context: dg.AssetExecutionContext, config: StepConfig) -> Iterator[Any]:
        yield from _step(corpus, stage, context, config, seen)

    return body


def _step(
    corpus: Corpus, stage: Stage, context: dg.AssetExecutionContext, config: StepConfig, seen: Seen | None
) -> Iterator[Any]:
    """Compute, commit and report. A failed partition keeps no other from being reported.

    The `Output` lets the steps after this one run, and makes Dagster mark every partition that was asked for; so it
    is given only when none failed. Each partition's own event comes after it and carries its own data version.
    """
    if stage.name == "inventory":
        register_shards(corpus, context.instance)
    keys = sorted(context.partition_keys) if context.has_partition_key_range or context.has_partition_key else [None]
    yield from _observe(corpus, stage, keys, context)
    by_build = context.run.tags.get(DRIVER_TAG) == "build"
    provenance = _provenance(stage, context.instance)
    pending = corpus.pending(stage, keys, force=config.force)
    pending.drive(lambda outcome: _note(context, outcome, seen))
    failures = pending.failures()
    if not failures and not by_build:
        yield dg.Output(pending, output_name="result")
    yield from _events(corpus, pending, provenance, fresh_too=not by_build)
    if failures:
        raise _failure(stage, pending, failures, len(keys))


def _failure(stage: Stage, pending: Pending, failures: list[str], asked: int) -> dg.Failure:
    shown = "\n".join(failures[:_MAX_LISTED])
    more = f"\nand {len(failures) - _MAX_LISTED} more" if len(failures) > _MAX_LISTED else ""
    hint = f"\nWhat is missing is built by: corpus build --select +{stage.name}" if pending.blocked else ""
    return dg.Failure(
        f"{len(failures)} of {asked} partitions failed:\n{shown}{more}{hint}",
        metadata={"failed": dg.MetadataValue.json(failures)},
        allow_retries=False,
    )


def register_shards(corpus: Corpus, instance: dg.DagsterInstance) -> None:
    """Make Dagster's shard partitions equal to the raw files that are there."""
    planner = corpus.planner()
    for stage in (stage for stage in corpus.graph if stage.observed and stage.partitioning is Partitioning.SHARD):
        name = shard_set(stage.source)
        wanted = [key for key in planner.partitions(stage) if key is not None]
        known = set(instance.get_dynamic_partitions(name))
        if new := [key for key in wanted if key not in known]:
            instance.add_dynamic_partitions(name, new)
        for key in known - set(wanted):
            instance.delete_dynamic_partition(name, key)


def _observe(
    corpus: Corpus, stage: Stage, keys: Sequence[str | None], context: dg.AssetExecutionContext
) -> Iterator[dg.AssetMaterialization]:
    """Look at the raw files anew before anything is made of them, so that any asset can be materialized alone."""
    for upstream in (corpus.graph[edge.asset] for edge in stage.inputs):
        if not upstream.observed:
            continue
        yield from _observe(corpus, upstream, keys, context)
        wanted = [None] if upstream.partitioning is Partitioning.NONE else keys
        pending = corpus.pending(upstream, wanted)
        if pending.due:
            provenance = _provenance(upstream, context.instance)
            pending.drive(lambda outcome: _note(context, outcome, None))
            yield from _events(corpus, pending, provenance, fresh_too=False)


def _note(context: dg.AssetExecutionContext, outcome: Outcome, seen: Seen | None) -> None:
    if outcome.error is not None:
        context.log.error(f"{outcome.name}: {outcome.error}")
    else:
        assert outcome.record is not None
        context.log.info(f"{outcome.name}: {_summary(outcome.record)}")
    if seen is not None:
        seen(outcome)


def _summary(record: Record) -> str:
    numbers = record.statistics
    parts = [
        f"{numbers[name]:,} {name.replace('_', ' ')}"
        for name in ("rows_in", "rows_out")
        if numbers.get(name) is not None
    ]
    parts += [f"{count:,} dropped as {reason}" for reason, count in numbers.get("dropped", {}).items() if count]
    return ", ".join([*parts, f"{numbers.get('seconds', 0)} s"])


def _events(
    corpus: Corpus, pending: Pending, provenance: Mapping[str, str], *, fresh_too: bool
) -> Iterator[dg.AssetMaterialization]:
    """One event per partition with its own data version; the plan's reason becomes its metadata."""
    why = {decision.partition: decision.reason for decision in pending.due}
    new = {outcome.partition for outcome in pending.outcomes}
    reasons = drop_reasons(corpus.ledger.records(pending.stage.name).values())
    for key, record in sorted(pending.records().items(), key=lambda item: item[0] or ""):
        if key in new or fresh_too:
            yield dg.AssetMaterialization(
                asset_key=asset_key(record.asset),
                partition=key,
                metadata=partition_metadata(record, reasons, key in new, why.get(key, "")),
                tags={
                    "dagster/data_version": record.digest,
                    "dagster/code_version": record.code_version,
                    **provenance,
                },
            )


def _provenance(stage: Stage, instance: dg.DagsterInstance) -> dict[str, str]:
    """Tags by which Dagster's own staleness knows the newest inputs this step saw."""
    tags: dict[str, str] = {}
    for edge in stage.inputs:
        key = asset_key(edge.asset)
        newest = instance.fetch_materializations(key, limit=1).records
        if newest:
            name = key.to_user_string()
            version = (newest[0].event_log_entry.tags or {}).get("dagster/data_version", "")
            tags[f"dagster/input_event_pointer/{name}"] = str(newest[0].storage_id)
            tags[f"dagster/input_data_version/{name}"] = version
    return tags
