"""Makes one Dagster asset from one stage; it computes through the engine, and reports events, metadata and lineage."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import dagster as dg
from pydantic import Field
from typing_extensions import override

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.loop import Follower
from corpus_assets.corpus.step import Step
from corpus_assets.numbers import duration
from corpus_assets.orchestration.freshness.checks import fresh_check, fresh_result, tell
from corpus_assets.orchestration.freshness.failures import KeptFailures
from corpus_assets.orchestration.freshness.state import freshness
from corpus_assets.orchestration.instance.instance import claim_run
from corpus_assets.orchestration.instance.waiting import store_of_ones_own
from corpus_assets.orchestration.shown.definition import definition_metadata, description
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from corpus_assets.orchestration.shown.figures import summary_line
from corpus_assets.orchestration.shown.partition_events import (
    Materializations,
    failure,
    last_reasons,
    step_failure_message,
)
from corpus_assets.orchestration.shown.provenance import Provenance
from corpus_assets.orchestration.shown.totals import told_apart, totals
from partitions.definitions import partitions_def
from partitions.mappings import mapping
from partitions.shards import register_shards
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome

OWNER = "team:corpus"
TakeOver = Callable[[Corpus, dg.AssetExecutionContext], bool]
"""Does the work of a whole group of runs; returns whether it is done, in this run or an earlier one."""


class StepConfig(dg.Config):
    """Options for a person who materializes by hand."""

    force: bool = Field(
        default=False,
        description="By default only what is not fresh is computed, whatever partitions are chosen; true: all of them.",
    )


def step_name(stage: Stage) -> str:
    """Returns the name of the step that computes a stage."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", stage.name)


def stage_asset(corpus: Corpus, stage: Stage, take_over: TakeOver | None = None) -> dg.AssetsDefinition:
    """Returns the asset of a stage, over any set of its partitions; it computes those that are not fresh.

    take_over: called first in every step.
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
                metadata=definition_metadata(corpus, stage),
            )
        },
        deps=[
            dg.AssetDep(
                asset_key(edge.asset),
                partition_mapping=mapping(edge.mapping, corpus.graph[edge.asset].partitioning),
            )
            for edge in stage.inputs
        ],
        partitions_def=partitions_def(corpus.settings, stage),
        check_specs=[fresh_check(stage)],
        backfill_policy=dg.BackfillPolicy.single_run(),
        can_subset=True,  # Also for the check alone.
    )
    def body(context: dg.AssetExecutionContext, config: StepConfig) -> Iterator[Any]:
        if context.job_def.executor_def.name == "in_process":  # Other executors have a process for each step.
            claim_run(context.instance, context.run)
        if asset_key(stage.name) not in context.selected_asset_keys:
            yield from _freshness(corpus, stage, corpus.planner(), context)
            return
        # Workers end with the step, because many steps share a process and none knows that it is the last.
        with store_of_ones_own(corpus, context.log.warning), closing(corpus):
            done = take_over is not None and not config.force and take_over(corpus, context)
            yield from _step(corpus, stage, context, config, told=done)

    return body


def _step(
    corpus: Corpus, stage: Stage, context: dg.AssetExecutionContext, config: StepConfig, *, told: bool
) -> Iterator[Any]:
    """Computes and commits partitions, and yields Dagster's events; a failed partition does not stop the others.

    The `Output` lets the steps after this one run, and makes Dagster mark every requested partition with an event that
    says nothing; so it is given only if none failed and if such steps are in the run. Each partition's own event comes
    after it and has its own data version. told: whether fresh partitions were already reported.
    """
    if stage.lists_shards:
        register_shards(corpus.planner(), context.instance)
    # A run of a partition may include unpartitioned assets.
    has_keys = stage.partitioning is not Partitioning.NONE and (
        context.has_partition_key_range or context.has_partition_key
    )
    keys: list[str | None] = [*sorted(context.partition_keys)] if has_keys else [None]
    if not keys:
        raise _empty_range(context)
    yield from _look_outside(corpus, stage, keys, context)
    step = Step(corpus, stage, keys, force=config.force)
    step.run(_Told(corpus, step, context.log))
    context.log.info(_in_short(step, len(keys)))
    yield from (failure(outcome) for outcome in step.outcomes if outcome.error is not None)
    yield from _mended(corpus, step, context)
    failures = step.failures()
    if goes_on := not failures and _is_read(context):
        yield dg.Output(step, output_name="result")
    yield from _events(corpus, step, stage, context, fresh_too=goes_on or not told)
    planner = corpus.planner()
    if goes_on or not told or step.outcomes:
        yield from _totals(planner, stage, context)
    yield from _freshness(corpus, stage, planner, context)
    if failures:
        raise _failure(stage, step, failures, len(keys))


class _Told(Follower):
    """Logs the outcomes of a step's partitions in its run, and keeps the failures."""

    def __init__(self, corpus: Corpus, step: Step, log: dg.DagsterLogManager) -> None:
        self._corpus = corpus
        self._planner = step.planner
        self._log = log
        self._failures = KeptFailures(corpus.storage)

    @override
    def done(self, outcome: Outcome, why: str) -> None:
        self._failures.note(self._planner, outcome)
        if outcome.record is None:
            self._log.error(f"{outcome.name}: {outcome.error}")
        else:
            numbers = summary_line(self._corpus.graph[outcome.asset], outcome.record.numbers)
            self._log.info(f"{outcome.name}: {numbers}, {duration(outcome.record.statistics.get('seconds'))}")

    @override
    def waits(self, words: str) -> None:
        self._log.info(words)


def _freshness(
    corpus: Corpus, stage: Stage, planner: Planner, context: dg.AssetExecutionContext
) -> Iterator[dg.AssetCheckResult]:
    """Yields the result of the check `fresh`, if requested, and reports changed results of other assets."""
    found = freshness(planner)
    asked = bool(context.op_execution_context.selected_asset_check_keys)
    tell(corpus, context.instance, found, but=stage.name if asked else None)
    if asked:
        yield fresh_result(stage.name, found[stage.name])


def _in_short(step: Step, asked: int) -> str:
    """Returns a summary of the requested partitions: `asked for 22: computed 1, fresh 21`."""
    own = [outcome for outcome in step.outcomes if outcome.asset == step.stage.name and outcome.error is None]
    elsewhere = sum(outcome.elsewhere for outcome in own)
    counts = {"built by others": elsewhere, "failed": len(step.failures())}
    more = "".join(f", {what} {count}" for what, count in counts.items() if count)
    return f"asked for {asked}: computed {len(own) - elsewhere}, fresh {len(step.fresh)}{more}"


def _is_read(context: dg.AssetExecutionContext) -> bool:
    """Returns whether another step of the same run, an asset or a check, reads this one."""
    structure = context.job_def.dependency_structure
    return bool(structure.output_to_downstream_inputs_for_node(context.op_execution_context.op_handle.name))


def _empty_range(context: dg.AssetExecutionContext) -> dg.Failure:
    """Returns the failure of a step that was asked for no partition: Dagster takes a range from back to front so."""
    first, last = context.partition_key_range
    return dg.Failure(
        f"no partition lies between {first} and {last}: received a range whose end comes before its beginning; "
        "valid: the earlier key first, in the order in which Dagster lists the partitions",
        allow_retries=False,
    )


def _failure(stage: Stage, step: Step, failures: list[str], asked: int) -> dg.Failure:
    hint = f"\nTo build the missing inputs: corpus build --select +{stage.name}" if step.blocked else ""
    return dg.Failure(
        f"{step_failure_message(failures, asked)}{hint}",
        metadata={"failed": dg.MetadataValue.json(failures)},
        allow_retries=False,
    )


def _look_outside(
    corpus: Corpus, stage: Stage, keys: Sequence[str | None], context: dg.AssetExecutionContext
) -> Iterator[dg.AssetMaterialization | dg.AssetObservation]:
    """Updates stages that scan the raw files first, so that any asset can be materialized alone."""
    for upstream in (corpus.graph[edge.asset] for edge in stage.inputs):
        if not upstream.looks_outside:
            continue
        yield from _look_outside(corpus, upstream, keys, context)
        wanted = [None] if upstream.partitioning is Partitioning.NONE else keys
        step = Step(corpus, upstream, wanted)
        if step.due:
            step.run(_Told(corpus, step, context.log))
            yield from (failure(outcome) for outcome in step.outcomes if outcome.error is not None)
            yield from _mended(corpus, step, context)
            yield from _events(corpus, step, upstream, context, fresh_too=False)
            yield from _totals(corpus.planner(), upstream, context)


def _mended(corpus: Corpus, step: Step, context: dg.AssetExecutionContext) -> Iterator[dg.AssetMaterialization]:
    """Yields the events of damaged inputs that were rebuilt on the way, before those of their readers."""
    for stage in corpus.graph:
        if stage is not step.stage and step.computed(stage):
            yield from _events(corpus, step, stage, context, fresh_too=False)
            yield from _totals(step.planner, stage, context)


def _totals(planner: Planner, stage: Stage, context: dg.AssetExecutionContext) -> Iterator[dg.AssetMaterialization]:
    found = totals(planner, [stage]).values()
    if not told_apart(context.instance, context.run, found):
        yield from found


def _events(
    corpus: Corpus, step: Step, stage: Stage, context: dg.AssetExecutionContext, *, fresh_too: bool
) -> Iterator[dg.AssetMaterialization]:
    """Yields one event per partition of a stage with its own data version; its metadata has the plan's reason.

    fresh_too: whether fresh partitions are reported too, with the reason for which they were last computed.
    """
    new = step.computed(stage)
    found = step.records() if fresh_too else new
    known = last_reasons(stage, found.keys() - new.keys(), context.instance)
    reasons = drop_reasons(stage, corpus.settings.values, corpus.ledger.records(stage.name).values())
    events = Materializations(corpus, stage, reasons, Provenance(context.instance).tags(stage))
    for key, record in sorted(found.items(), key=lambda item: item[0] or ""):
        why = step.why.get((stage.name, key), "") if key in new else known.get(key, "")
        yield events.of(record, why, new=key in new)
