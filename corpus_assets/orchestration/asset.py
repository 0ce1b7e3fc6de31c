"""Makes one Dagster asset from one stage; it computes through the engine, and reports events, metadata and lineage."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus import Corpus, Step
from corpus_assets.orchestration.drop_reasons import drop_reasons
from corpus_assets.orchestration.failures import note_outcomes
from corpus_assets.orchestration.metadata import definition_metadata, description, partition_metadata
from corpus_assets.orchestration.provenance import DATA_VERSION, Provenance
from corpus_assets.orchestration.waiting import store_of_ones_own
from partitions.definitions import shards, static
from partitions.mappings import mapping
from partitions.shards import register_shards
from resources.ledger import Record
from resources.stage.declaration import Partitioning, Stage
from resources.stage.job import Outcome

OWNER = "team:corpus"
_MAX_LISTED = 5
TakeOver = Callable[[Corpus, dg.AssetExecutionContext], bool]
"""Does the work of all runs that belong together; returns whether it is done, in this run or an earlier one."""

_EVENTS_EACH = 3
"""How many events of a partition are looked at, on average, to find why it was computed."""


class StepConfig(dg.Config):
    """Options for a person who materializes by hand. force: compute fresh partitions too."""

    force: bool = False


def partitions_def(corpus: Corpus, stage: Stage) -> dg.PartitionsDefinition[str] | None:
    """Returns Dagster's partitions of a stage."""
    if stage.partitioning is Partitioning.SHARD:
        return shards(stage.shard_set)
    if stage.partitioning is Partitioning.BAND:
        return static(corpus.settings.bands())
    if stage.partitioning is Partitioning.CHUNK:
        return static(corpus.settings.chunks())
    return None


def step_name(stage: Stage) -> str:
    """Returns the name of the step that computes a stage."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", stage.name)


def stage_asset(corpus: Corpus, stage: Stage, take_over: TakeOver | None = None) -> dg.AssetsDefinition:
    """Returns the asset of a stage, over any set of its partitions; it computes those that are not fresh.

    take_over: is asked first in every step.
    """

    @dg.multi_asset(
        name=step_name(stage),
        outs={
            "result": dg.AssetOut(
                key=asset_key(stage.name),
                io_manager_key=f"{stage.io}_io_manager",
                is_required=False,
                description=description(stage),
                code_version=stage.code_version,
                group_name=stage.group,
                kinds={*stage.kinds, "python"},
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
        with store_of_ones_own(corpus, context.log.warning):
            done = take_over is not None and not config.force and take_over(corpus, context)
            yield from _step(corpus, stage, context, config, told=done)

    return body


def _step(
    corpus: Corpus, stage: Stage, context: dg.AssetExecutionContext, config: StepConfig, *, told: bool
) -> Iterator[Any]:
    """Computes and commits partitions, and yields Dagster's events; a failed partition does not stop the others.

    The `Output` lets the steps after this one run, and makes Dagster mark every requested partition with an event
    that says nothing; so it is given only if none failed and if such steps are in the run. Each partition's own event
    comes after it and has its own data version. told: whether fresh partitions were reported before.
    """
    if stage.lists_shards:
        register_shards(corpus.planner(), context.instance)
    keys = sorted(context.partition_keys) if context.has_partition_key_range or context.has_partition_key else [None]
    yield from _look_outside(corpus, stage, keys, context)
    tags = Provenance(context.instance).tags(stage)
    step = corpus.step(stage, keys, force=config.force)
    step.run(lambda outcome: _note(context, outcome))
    note_outcomes(corpus, stage, step.outcomes)
    context.log.info(_in_short(step, len(keys)))
    yield from (failure(outcome) for outcome in step.outcomes if outcome.error is not None)
    failures = step.failures()
    if goes_on := not failures and _is_read(context):
        yield dg.Output(step, output_name="result")
    known = last_reasons(stage, [decision.partition for decision in step.fresh], context.instance)
    yield from _events(corpus, step, tags, fresh_too=goes_on or not told, known=known)
    if failures:
        raise _failure(stage, step, failures, len(keys))


def _in_short(step: Step, asked: int) -> str:
    """Returns what became of the partitions that were asked for: `asked for 22: computed 1, fresh 21`."""
    failed = len(step.failures())
    computed = sum(outcome.asset == step.stage.name and outcome.error is None for outcome in step.outcomes)
    return f"asked for {asked}: computed {computed}, fresh {len(step.fresh)}" + (f", failed {failed}" if failed else "")


def failure(outcome: Outcome) -> dg.AssetObservation:
    """Returns the event by which the web UI shows, on the page of a partition, why it failed."""
    metadata = {"last failure": outcome.error or ""}
    return dg.AssetObservation(asset_key(outcome.asset), partition=outcome.partition, metadata=metadata)


def _is_read(context: dg.AssetExecutionContext) -> bool:
    """Returns whether another step of the same run, an asset or a check, reads this one."""
    structure = context.job_def.dependency_structure
    return bool(structure.output_to_downstream_inputs_for_node(context.op_execution_context.op_handle.name))


def _failure(stage: Stage, step: Step, failures: list[str], asked: int) -> dg.Failure:
    hint = f"\nTo build the missing inputs: corpus build --select +{stage.name}" if step.blocked else ""
    return dg.Failure(
        f"{step_failure_message(failures, asked)}{hint}",
        metadata={"failed": dg.MetadataValue.json(failures)},
        allow_retries=False,
    )


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


def _look_outside(
    corpus: Corpus, stage: Stage, keys: Sequence[str | None], context: dg.AssetExecutionContext
) -> Iterator[dg.AssetMaterialization]:
    """Brings stages that scan the raw files up to date first, so that any asset can be materialized alone."""
    for upstream in (corpus.graph[edge.asset] for edge in stage.inputs):
        if not upstream.looks_outside:
            continue
        yield from _look_outside(corpus, upstream, keys, context)
        wanted = [None] if upstream.partitioning is Partitioning.NONE else keys
        step = corpus.step(upstream, wanted)
        if step.due:
            tags = Provenance(context.instance).tags(upstream)
            step.run(lambda outcome: _note(context, outcome))
            note_outcomes(corpus, upstream, step.outcomes)
            yield from _events(corpus, step, tags, fresh_too=False)


def _note(context: dg.AssetExecutionContext, outcome: Outcome) -> None:
    if outcome.error is not None:
        context.log.error(f"{outcome.name}: {outcome.error}")
    else:
        assert outcome.record is not None
        context.log.info(f"{outcome.name}: {_summary(outcome.record)}")


def _summary(record: Record) -> str:
    numbers = record.statistics
    phrases = [
        f"{numbers[name]:,} {name.replace('_', ' ')}"
        for name in ("rows_in", "rows_out")
        if numbers.get(name) is not None
    ]
    phrases += [f"{count:,} dropped as {reason}" for reason, count in numbers.get("dropped", {}).items() if count]
    return ", ".join([*phrases, f"{numbers.get('seconds', 0)} s"])


def _events(
    corpus: Corpus,
    step: Step,
    provenance: Mapping[str, str],
    *,
    fresh_too: bool,
    known: Mapping[str | None, str] | None = None,
) -> Iterator[dg.AssetMaterialization]:
    """Yields one event per partition with its own data version; its metadata has the plan's reason.

    known: the reasons for which fresh partitions were computed the last time.
    """
    why = {**(known or {})} | {decision.partition: decision.reason for decision in step.due}
    new = {outcome.partition for outcome in step.outcomes}
    reasons = drop_reasons(step.stage, corpus.settings.values, corpus.ledger.records(step.stage.name).values())
    for key, record in sorted(step.records().items(), key=lambda item: item[0] or ""):
        if key in new or fresh_too:
            yield materialization(record, reasons, why.get(key, ""), provenance, new=key in new)


def materialization(
    record: Record, reasons: Sequence[str], why: str, provenance: Mapping[str, str], *, new: bool
) -> dg.AssetMaterialization:
    """Returns the event of a partition. reasons: all drop reasons of the asset. new: False if it was found fresh."""
    return dg.AssetMaterialization(
        asset_key=asset_key(record.asset),
        partition=record.partition,
        metadata=partition_metadata(record, reasons, new, why),
        tags={DATA_VERSION: record.digest, "dagster/code_version": record.code_version, **provenance},
    )


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
