"""A schedule and a sensor that launch just what the plan says is not fresh, in batches."""

from collections.abc import Iterator, Sequence

import dagster as dg

from corpus_assets.build import RANGE_END, RANGE_START, build, ranges
from corpus_assets.corpus import Corpus
from corpus_assets.stage import asset_key, register_shards
from resources.execute import Outcome
from resources.graph import Partitioning, Stage
from resources.plan import Decision, Plan, Status

MAX_RUNS = 8
MAX_PARTITIONS_PER_RUN = 500
INTERVAL_SECONDS = 120


def next_requests(corpus: Corpus, plan: Plan, shard_order: Sequence[str]) -> Iterator[dg.RunRequest]:
    """Runs for everything that could start now: not fresh, and what it reads is.

    shard_order: shard partitions as Dagster orders them. Each run takes one range of partitions of one asset.
    """
    for stage in corpus.graph:
        ready = [d for d in plan.of(stage.name) if d.status is not Status.FRESH and not d.blocked]
        if ready and stage.partitioning is Partitioning.NONE:
            yield _request(stage.name, ready, {})
        elif ready:
            keys = [d.partition for d in plan.of(stage.name) if d.partition is not None]
            order = list(shard_order) if stage.partitioning is Partitioning.SHARD else keys
            chosen = [d.partition for d in ready if d.partition is not None][:MAX_PARTITIONS_PER_RUN]
            for start, end in ranges(chosen, order, MAX_RUNS):
                yield _request(stage.name, ready, {RANGE_START: start, RANGE_END: end})


def _request(asset: str, ready: list[Decision], tags: dict[str, str]) -> dg.RunRequest:
    why = f"{ready[0].reason} ({len(ready)} partitions)"
    return dg.RunRequest(asset_selection=[asset_key(asset)], tags={**tags, "corpus/why": why[:200]})


def _requests(corpus: Corpus, instance: dg.DagsterInstance) -> list[dg.RunRequest] | dg.SkipReason:
    running = instance.get_runs_count(dg.RunsFilter(statuses=_ACTIVE))
    if running:
        return dg.SkipReason(f"{running} runs are active; the plan is looked at again when they are done")
    register_shards(corpus, instance)
    plan = corpus.planner().plan()
    requests = list(next_requests(corpus, plan, instance.get_dynamic_partitions("shard")))[:MAX_RUNS]
    if requests:
        return requests
    counts = ", ".join(f"{count} {status}" for status, count in plan.counts().items())
    return dg.SkipReason(f"nothing can start: {counts}")


_ACTIVE = [dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.QUEUED]


def corpus_sensor(corpus: Corpus) -> dg.SensorDefinition:
    """Looks at the plan every two minutes; off until switched on."""

    @dg.sensor(
        name="build_what_is_not_fresh",
        target=dg.AssetSelection.all(),
        minimum_interval_seconds=INTERVAL_SECONDS,
        description="Launches runs for what the plan says is not fresh and could start now, stage after stage.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        return _requests(corpus, context.instance)

    return sensor


def build_job(corpus: Corpus) -> dg.JobDefinition:
    """`corpus build` as a job: the whole plan in order, each stage as a run of its own."""

    @dg.op(name="build")
    def build_op(context: dg.OpExecutionContext) -> None:
        report = build(corpus, list(corpus.graph), _LogProgress(context.log), instance=context.instance)
        context.log.info(f"{report.recomputed} partitions recomputed, {report.fresh} were fresh")
        if not report.ok:
            problems = [*report.failed, *report.waiting, *report.failed_checks]
            raise dg.Failure("\n".join(problems[:20]), allow_retries=False)

    @dg.job(
        name="build_corpus",
        description="Everything the plan says is not fresh, in order; the same as `corpus build`.",
        executor_def=dg.in_process_executor,
    )
    def job() -> None:
        build_op()

    return job


class _LogProgress:
    def __init__(self, log: dg.DagsterLogManager) -> None:
        self._log = log

    def stage(self, stage: Stage, todo: int) -> None:
        """See `build.Progress`."""
        self._log.info(f"{stage.name}: {todo} partitions to compute")

    def outcome(self, outcome: Outcome) -> None:
        """See `build.Progress`."""
        if outcome.error is not None:
            self._log.error(f"{outcome.name}: {outcome.error}")


def corpus_schedule(job: dg.JobDefinition) -> dg.ScheduleDefinition:
    """The whole plan, every night at three; off until switched on."""
    return dg.ScheduleDefinition(name="nightly_build", job=job, cron_schedule="0 3 * * *")
