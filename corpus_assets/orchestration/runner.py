"""Dagster runs of a build: one in-process run per range of partitions of a stage, and one for its checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from corpus_assets.checking import asset_key
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.build_report import Progress, Report
from corpus_assets.orchestration.home import dagster_home
from corpus_assets.orchestration.instance import process_tags, project_instance, usable
from corpus_assets.orchestration.ranges import RANGE_END, RANGE_START, ranges
from partitions.definitions import shard_set_name
from partitions.shards import register_shards
from resources.planning.planner import Decision
from resources.stage.declaration import Partitioning, Stage
from resources.stage.job import Outcome

MAX_RUNS_PER_STAGE = 16
_QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class Runner:
    """Starts Dagster runs. A build makes it only when there is something to run: importing Dagster takes seconds."""

    def __init__(self, corpus: Corpus, report: Report, progress: Progress, instance: dg.DagsterInstance | None) -> None:
        self._corpus = corpus
        self._report = report
        self._progress = progress
        self._instance = instance or project_instance(corpus.folder)
        self._assembly = assemble(corpus, on_outcome=self._on_outcome)
        self._job = self._assembly.job()
        self._tags = {"corpus/driver": "build", **process_tags()}

    def _on_outcome(self, outcome: Outcome) -> None:
        self._progress.outcome(outcome)
        self._report.add(outcome)

    def run(self, stage: Stage, due: Sequence[Decision], blocked: Sequence[Decision]) -> None:
        """Materializes the partitions of one stage that are due, and none of the blocked ones."""
        keys = {decision.partition for decision in due}
        waiting = {decision.partition for decision in blocked if decision.partition is not None}
        if stage.partitioning is Partitioning.NONE:
            self._materialize(stage, {})
            return
        order = self._order(stage)
        for start, end in ranges([key for key in order if key in keys], order, MAX_RUNS_PER_STAGE, waiting):
            self._materialize(stage, {RANGE_START: start, RANGE_END: end})

    def _order(self, stage: Stage) -> list[str]:
        """Returns the partition keys in the order in which Dagster cuts ranges."""
        if stage.partitioning is Partitioning.SHARD:
            register_shards(self._corpus.planner(), self._instance)
            return list(self._instance.get_dynamic_partitions(shard_set_name(stage.shard_set)))
        return [key for key in self._corpus.planner().partitions(stage) if key is not None]

    def _materialize(self, stage: Stage, tags: dict[str, str]) -> None:
        known = len(self._report.failed)
        with usable(dagster_home(self._corpus.folder)):
            result = self._job.execute_in_process(
                asset_selection=[asset_key(stage.name)],
                tags={**tags, **self._tags},
                instance=self._instance,
                run_config=_QUIET,
                raise_on_error=False,
            )
        if not result.success and len(self._report.failed) == known:
            self._note_crash(stage, result)

    def _note_crash(self, stage: Stage, result: dg.ExecuteInProcessResult) -> None:
        """Adds the error of a step to the report if no partition reported one."""
        for event in result.filter_events(lambda event: event.is_step_failure):
            error = event.step_failure_data.error
            if error and error.cls_name == "DagsterExecutionInterruptedError":
                raise KeyboardInterrupt
            line = f"{stage.name}: {in_words(error) if error else 'step failed'}"
            self._report.failed.append(line)
            self._report.crashes.append(line)

    def check(self, names: Iterable[str]) -> None:
        """Runs the asset checks of these assets."""
        keys = [asset_key(name) for name in names]
        chosen = [check for check in self._assembly.checks if any(k.asset_key in keys for k in check.check_keys)]
        if not chosen:
            return
        self._progress.doing(f"checking {keys[0].to_user_string()}" if len(keys) == 1 else "checking")
        result = self._assembly.check_job(chosen).execute_in_process(
            tags=self._tags,
            instance=self._instance,
            run_config=_QUIET,
            raise_on_error=False,
        )
        for evaluation in result.get_asset_check_evaluations():
            if not evaluation.passed:
                name = f"{evaluation.asset_key.to_user_string()}: check {evaluation.check_name}"
                self._report.failed_checks.append(f"{name}: {evaluation.description or 'failed'}")


def in_words(error: SerializableErrorInfo) -> str:
    """Returns the message of the error that began it all; Dagster wraps it in errors that only say where."""
    while error.cause is not None:
        error = error.cause
    return error.message.strip()
