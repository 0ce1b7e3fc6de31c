"""The factory: one Dagster asset from one stage. Ledger, engine, events, metadata and lineage live here once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from corpus_assets.corpus import Corpus
from partitions.definitions import SHARDS, static
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


def partitions_def(corpus: Corpus, partitioning: Partitioning) -> dg.PartitionsDefinition[str] | None:
    """Dagster's partitions for a kind of stage."""
    if partitioning is Partitioning.SHARD:
        return SHARDS
    if partitioning is Partitioning.BAND:
        return static(corpus.settings.bands())
    if partitioning is Partitioning.CHUNK:
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
                description=_description(stage),
                code_version=stage.code_version,
                group_name=stage.group,
                kinds={*stage.tools, "python"},
                owners=[OWNER],
                metadata=_definition_metadata(stage),
            )
        },
        deps=[
            dg.AssetDep(
                asset_key(edge.asset),
                partition_mapping=mapping(edge.mapping, corpus.graph[edge.asset].partitioning),
            )
            for edge in stage.inputs
        ],
        partitions_def=partitions_def(corpus, stage.partitioning),
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=False,
    )
    def body(context: dg.AssetExecutionContext, config: StepConfig) -> Iterator[Any]:
        yield from _step(corpus, stage, context, config, seen)

    return body


def _step(
    corpus: Corpus, stage: Stage, context: dg.AssetExecutionContext, config: StepConfig, seen: Seen | None
) -> Iterator[Any]:
    """Compute, commit and report. A failed partition keeps no other from being reported."""
    if stage.name == "inventory":
        register_shards(corpus, context.instance)
    keys = sorted(context.partition_keys) if context.has_partition_key_range or context.has_partition_key else [None]
    _refresh_observed(corpus, stage, keys, context)
    pending = corpus.pending(stage, keys, force=config.force)
    by_build = context.run.tags.get(DRIVER_TAG) == "build"
    provenance = _provenance(stage, context.instance)
    pending.drive(lambda outcome: _note(context, outcome, seen))
    failures = pending.failures()
    if not failures and not by_build:
        yield dg.Output(pending, output_name="result")
    why = {decision.partition: decision.reason for decision in pending.todo}
    new = {outcome.partition for outcome in pending.outcomes}
    for key, record in sorted(pending.records().items(), key=lambda item: item[0] or ""):
        if key in new or not by_build:
            yield _event(stage, record, key in new, why.get(key, ""), provenance)
    if failures:
        shown = "\n".join(failures[:_MAX_LISTED])
        raise dg.Failure(
            f"{len(failures)} partitions failed:\n{shown}",
            metadata={"failed": dg.MetadataValue.json(failures)},
            allow_retries=False,
        )


def register_shards(corpus: Corpus, instance: dg.DagsterInstance) -> None:
    """Make Dagster's shard partitions equal to the raw files that are there."""
    wanted = corpus.listing().keys()
    known = set(instance.get_dynamic_partitions("shard"))
    new = [key for key in wanted if key not in known]
    if new:
        instance.add_dynamic_partitions("shard", new)
    for key in known - set(wanted):
        instance.delete_dynamic_partition("shard", key)


def _refresh_observed(
    corpus: Corpus, stage: Stage, keys: Sequence[str | None], context: dg.AssetExecutionContext
) -> None:
    """Look at the raw files anew before anything is made of them, so that any asset can be materialized alone."""
    for edge in stage.inputs:
        upstream = corpus.graph[edge.asset]
        if upstream.observed and upstream.partitioning is Partitioning.SHARD:
            _refresh_observed(corpus, upstream, keys, context)
            corpus.pending(upstream, keys).drive(lambda outcome: _note(context, outcome, None))
        elif upstream.observed:
            corpus.pending(upstream).drive(lambda outcome: _note(context, outcome, None))


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
    parts += [f"dropped {reason}: {count:,}" for reason, count in numbers.get("dropped", {}).items()]
    return ", ".join([*parts, f"{numbers.get('seconds', 0)} s"])


def _event(
    stage: Stage, record: Record, recomputed: bool, why: str, provenance: Mapping[str, str]
) -> dg.AssetMaterialization:
    return dg.AssetMaterialization(
        asset_key=asset_key(stage.name),
        partition=record.partition,
        metadata=_metadata(record, recomputed, why),
        tags={
            "dagster/data_version": record.digest,
            "dagster/code_version": record.code_version,
            **provenance,
        },
    )


def _metadata(record: Record, recomputed: bool, why: str) -> dict[str, Any]:
    """The same few numbers on every partition, so that the web UI's plots mean something."""
    numbers = record.statistics
    plain = {name: value for name, value in numbers.items() if isinstance(value, int | float | str)}
    dropped = {f"dropped: {reason}": count for reason, count in numbers.get("dropped", {}).items()}
    seconds = max(numbers.get("seconds", 0), 0.001)
    speed = {"MB/s": round(numbers["text_bytes"] / 1e6 / seconds, 2)} if "text_bytes" in numbers else {}
    return {
        **plain,
        **dropped,
        **speed,
        "dagster/row_count": int(numbers.get("rows_out") or 0),
        "bytes stored": sum(file.bytes for file in record.files),
        "files": dg.MetadataValue.json([file.path for file in record.files]),
        "recomputed": recomputed,
        "why": why or ("asked for" if recomputed else "fresh"),
        "recipe": record.recipe,
        **_examples(numbers),
    }


def _examples(numbers: Mapping[str, Any]) -> dict[str, Any]:
    examples = numbers.get("dropped_examples")
    if not examples:
        return {}
    lines = "\n".join(f"- `{example[:300]}`" for example in examples)
    return {"dropped rows (first examples)": dg.MetadataValue.md(lines)}


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


def _definition_metadata(stage: Stage) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    if stage.columns:
        columns = [dg.TableColumn(name, kind) for name, kind in stage.columns.items()]
        metadata["dagster/column_schema"] = dg.TableSchema(columns=columns)
    if stage.parameters:
        metadata["parameters"] = dg.MetadataValue.json(list(stage.parameters))
    return metadata


def _description(stage: Stage) -> str:
    what = {Partitioning.NONE: "the whole corpus"}.get(stage.partitioning, f"one {stage.partitioning.value}")
    return f"{stage.description}\n\nOne partition is {what}. Algorithm version {stage.code_version}."
