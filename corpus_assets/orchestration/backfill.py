"""A backfill over whole assets, such as "Materialize all", is one build: its first run does the work of all.

So is one over all that is not fresh of them, such as what is re-executed from failure.

Dagster's daemon starts the runs of a backfill level by level, and waits up to 30 seconds before each. It considers a
partition done when any run of the backfill reports it. So the first step builds everything in the backfill like `corpus
build`, and reports every partition; then the daemon has nothing left to start.
"""

import time
from collections.abc import Mapping, Sequence

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.runner import BUILD_TAG, LOST_WHY, WHY_TAG, JobStep, Runner
from corpus_assets.orchestration.events.event_batch import event_batch
from corpus_assets.orchestration.events.lost_events import killed_builds, lost_records, told_until
from corpus_assets.orchestration.events.run_events import RunEvents
from corpus_assets.orchestration.freshness.checks import tell
from corpus_assets.orchestration.freshness.state import freshness
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.orchestration.instance.instance import usable
from corpus_assets.orchestration.jobs import LogProgress, in_words
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from corpus_assets.orchestration.shown.partition_events import Materializations, last_reasons
from corpus_assets.orchestration.shown.provenance import Provenance
from corpus_assets.orchestration.shown.totals import BACKFILL_TAG, told_apart, totals
from partitions.definitions import shard_set_name
from resources.ledger.records import Record
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Partitioning, Stage

BUILT_TAG = "corpus/built"
"""Tag of the run that did the work of its whole backfill."""

Records = Mapping[str | None, Record]


def build_backfill(corpus: Corpus, context: dg.AssetExecutionContext) -> bool:
    """Does the work of the whole backfill that a run belongs to, if one build can do it.

    Returns whether that was done, by this run or an earlier one. What Dagster goes on with fails no step here: this
    one may be of another asset. Raises `dg.Failure` if anything else is not complete.
    """
    step = JobStep(context.instance, context.run, context.op_execution_context.get_step_execution_context().step.key)
    backfill = step.run.tags.get(BACKFILL_TAG)
    if backfill is None:
        return False
    if (first := _builder(step.instance, backfill)) is not None:
        own = {name: first.tags[name] for name in (BUILD_TAG, WHY_TAG) if name in first.tags}
        step.instance.add_run_tags(step.run.run_id, own)
        return True
    planner = corpus.planner()
    stages = _stages(planner, step.instance, backfill)
    if not stages:
        return False
    before = {stage.name: planner.records(stage.name) for stage in stages}
    with usable(dagster_home(corpus.home)):
        _tell_lost(corpus, planner, step.instance)
    report = build(corpus, stages, LogProgress(context.log), instance=step)
    with usable(dagster_home(corpus.home)):
        _report(corpus, stages, before, step)
        step.instance.add_run_tags(step.run.run_id, {BUILT_TAG: "yes"})
    context.log.info(f"this backfill is one build: {report.recomputed} partitions computed, {report.fresh} were fresh")
    if not report.ok and _is_left_over(corpus.planner(), stages, step.instance, backfill):
        raise dg.Failure(in_words(report), allow_retries=False)
    if not report.ok:  # Dagster goes on with what is left, each in a step of its own asset, which then fails.
        context.log.error(in_words(report))
    return True


def _tell_lost(corpus: Corpus, planner: Planner, instance: dg.DagsterInstance) -> None:
    """Reports in a run of its own what was committed and not reported yet: partitions that are not fresh among it.

    The daemon would take these for done if a run of the backfill reported them, and no re-execution would have them.
    """
    committed = {stage.name: list(planner.records(stage.name).values()) for stage in corpus.graph}
    killed = killed_builds(instance)
    if killed or any(lost_records(instance, told_until(instance, killed), committed)):
        names = [stage.name for stage in corpus.graph]
        Runner(corpus, planner, instance, LOST_WHY, stages=names, committed=committed).close(None)


def _is_left_over(planner: Planner, stages: Sequence[Stage], instance: dg.DagsterInstance, backfill: str) -> bool:
    """Returns whether anything is not fresh that is not in the backfill: shards that Dagster did not know."""
    found = instance.get_backfill(backfill)
    data = found.asset_backfill_data if found else None
    for stage in stages:
        not_fresh = {key for key, one in planner.decisions(stage).items() if one.status is not Status.FRESH and key}
        subset = data.target_subset.partitions_subsets_by_asset_key.get(asset_key(stage.name)) if data else None
        if not_fresh - set(subset.get_partition_keys() if subset else ()):
            return True
    return False


def _builder(instance: dg.DagsterInstance, backfill: str) -> dg.DagsterRun | None:
    """Returns the run that did the work of a whole backfill; None if none did yet."""
    filters = dg.RunsFilter(tags={BACKFILL_TAG: backfill, BUILT_TAG: "yes"})
    return next(iter(instance.get_runs(filters, limit=1)), None)


def _stages(planner: Planner, instance: dg.DagsterInstance, backfill: str) -> list[Stage]:
    """Returns the stages that a backfill is over, if one build can do all of it; else none.

    It can if the backfill is over all partitions that are not fresh of several assets, as one that is re-executed from
    failure is, and if these assets read nothing else that is not fresh. If Dagster knows no shards yet, the backfill
    lacks the partitions of assets by shard, and these assets are still included.
    """
    found = instance.get_backfill(backfill)
    data = found.asset_backfill_data if found else None
    if found is None or data is None:
        return []
    target = data.target_subset
    selected = {*target.asset_keys, *(found.asset_selection or ())}
    stages = [stage for stage in planner.graph if asset_key(stage.name) in selected]
    read = {edge.asset for stage in stages for edge in stage.inputs} - {stage.name for stage in stages}
    if len(stages) < 2 or not all(planner.all_fresh(planner.graph[name]) for name in read):
        return []
    for stage in stages:
        subset = target.partitions_subsets_by_asset_key.get(asset_key(stage.name))
        left = _known(planner, stage, instance) - set(subset.get_partition_keys() if subset else ())
        if any(one.status is not Status.FRESH for key, one in planner.decisions(stage).items() if key in left):
            return []
    return stages


def _known(planner: Planner, stage: Stage, instance: dg.DagsterInstance) -> set[str]:
    """Returns the partitions of a stage that Dagster knows. New raw files, unknown to it, are built all the same."""
    if stage.partitioning is Partitioning.SHARD:
        return set(instance.get_dynamic_partitions(shard_set_name(stage.shard_set)))
    return {key for key in planner.partitions(stage) if key is not None}


def _kept(planner: Planner, stage: Stage, before: Records) -> list[Record]:
    """Returns the records of the partitions that are fresh and that the build did not compute.

    Some were not fresh before: they only waited for inputs that turned out equal.
    """
    records = planner.records(stage.name)
    fresh = (key for key, decision in planner.decisions(stage).items() if decision.status is Status.FRESH)
    return [records[key] for key in fresh if key in before and _is_same(records[key], before[key])]


def _is_same(record: Record, before: Record) -> bool:
    """Returns whether a record is unchanged, except for the time of a rewritten raw file."""
    return record.with_seen({}) == before.with_seen({})


def _report(corpus: Corpus, stages: Sequence[Stage], before: Mapping[str, Records], step: JobStep) -> None:
    """Reports the partitions that the build found fresh, each with the reason for which it was last computed.

    before: the records of each stage before it.
    """
    planner = corpus.planner()
    kept = {stage.name: _kept(planner, stage, before[stage.name]) for stage in stages}
    events, provenance = RunEvents(step.run.run_id, step.run.job_name), Provenance(step.instance)
    reasons: dict[str, Mapping[str | None, str]] = {}
    for stage in stages:  # Before the batch, which locks the database.
        provenance.look_up(stage)
        keys = [record.partition for record in kept[stage.name]]
        reasons[stage.name] = last_reasons(stage, keys, step.instance)
    with event_batch(step.instance, step.run.run_id) as batch:
        anew = []
        for stage in stages:
            records = planner.records(stage.name)
            found = kept[stage.name]
            dropped, when = drop_reasons(stage, planner.settings.values, records.values()), time.time()
            make = Materializations(corpus, stage, dropped, provenance.tags(stage))
            told = [make.of(record, reasons[stage.name].get(record.partition, ""), new=False) for record in found]
            if told:
                last = batch.add([events.entry(events.materialized(step.key, event), when) for event in told])
                provenance.newest(stage.name, last, found[-1].digest)
                anew.append(stage)
    told_apart(step.instance, step.run, totals(planner, anew).values())
    tell(corpus, step.instance, freshness(planner))
