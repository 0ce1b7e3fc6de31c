"""Jobs and the nightly schedule: `corpus build`, for everything or up to one group."""

import dagster as dg
from typing_extensions import override

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.building.build import build
from corpus_assets.orchestration.building.report import Progress, Report
from corpus_assets.orchestration.building.runner import JobStep
from corpus_assets.orchestration.instance.instance import claim_run
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome

MAX_LISTED = 20


def build_job(corpus: Corpus, group: str | None = None) -> dg.JobDefinition:
    """Returns `corpus build` as a job, for everything or up to one group; all stages are its one step."""
    stages = corpus.graph.select([f"+group:{group}"]) if group else list(corpus.graph)

    @dg.op(name=f"update_{group or 'everything'}")
    def build_op(context: dg.OpExecutionContext) -> None:
        claim_run(context.instance, context.run)
        step = JobStep(context.instance, context.run, context.get_step_execution_context().step.key)
        report = build(corpus, stages, LogProgress(context.log), instance=step)
        context.log.info(f"{report.recomputed} partitions recomputed, {report.fresh} were fresh")
        if not report.ok:
            raise dg.Failure(in_words(report), allow_retries=False)

    of_group = ", ".join(stage.name for stage in corpus.graph if stage.group == group)
    what = f"{of_group}, and everything that is read for them" if group else "All assets"
    select = f" --select +group:{group}" if group else ""

    @dg.job(
        name=f"build_{group or 'corpus'}",
        description=f"{what}: builds all partitions that are not fresh, in order; the same as `corpus build{select}`.",
        executor_def=dg.in_process_executor,
    )
    def job() -> None:
        build_op()

    return job


def in_words(report: Report) -> str:
    """Returns why a build is not complete: each cause once, then how many partitions wait for them."""
    problems = [*report.failed, *report.failed_checks, *report.held_back]
    lines = problems[:MAX_LISTED]
    if len(problems) > MAX_LISTED:
        lines.append(f"and {len(problems) - MAX_LISTED} more")
    if report.waiting:
        lines.append(f"and {len(report.waiting)} wait" if lines else "\n".join(report.waiting[:MAX_LISTED]))
    return "\n".join(lines)


def group_jobs(corpus: Corpus) -> list[dg.JobDefinition]:
    """Returns one job per group, in the order the data flows."""
    return [build_job(corpus, group) for group in corpus.graph.groups()]


class LogProgress(Progress):
    """Follows a build in the log of a run."""

    def __init__(self, log: dg.DagsterLogManager) -> None:
        self._log = log

    @override
    def stage(self, stage: Stage, due: int) -> None:
        self._log.info(f"{stage.name}: {due} partitions to compute")

    @override
    def outcome(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            self._log.error(f"{outcome.name}: {outcome.error}")

    @override
    def warns(self, what: str) -> None:
        self._log.warning(what)


def corpus_schedule(job: dg.JobDefinition) -> dg.ScheduleDefinition:
    """Returns the schedule that builds the whole corpus every night at three; it is off until switched on."""
    return dg.ScheduleDefinition(
        name="nightly_build",
        job=job,
        cron_schedule="0 3 * * *",
        description="Every night at three: builds everything that is not fresh.",
    )
