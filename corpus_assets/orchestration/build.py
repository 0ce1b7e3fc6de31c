"""`corpus build`: runs the plan stage by stage through Dagster, so that everything shows in the web UI.

Each stage is one in-process Dagster run per contiguous range of its not-fresh partitions, of the very assets that the
web UI and `dagster asset materialize` use; the work inside is spread over the engine's workers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.build_report import Progress, Report
from corpus_assets.orchestration.notes import build_notes
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Stage

if TYPE_CHECKING:
    import dagster as dg

    from corpus_assets.orchestration.runner import Runner


def build(
    corpus: Corpus,
    stages: Sequence[Stage],
    progress: Progress,
    *,
    checks: bool = True,
    instance: dg.DagsterInstance | None = None,
) -> Report:
    """Bring the given stages up to date, in order. What fails does not keep other partitions from being built."""
    started = time.monotonic()
    report = Report()
    for stage in stages:  # A file that the configuration names and that is not there is told before hours of work.
        corpus.settings.derived_parameters(stage)
    with corpus.exclusive():
        corpus.storage.remove_abandoned()
        try:
            _build(corpus, stages, progress, report, checks=checks, instance=instance)
        finally:
            corpus.engine.close()
    report.seconds = round(time.monotonic() - started, 3)
    return report


def _build(
    corpus: Corpus,
    stages: Sequence[Stage],
    progress: Progress,
    report: Report,
    *,
    checks: bool,
    instance: dg.DagsterInstance | None,
) -> None:
    runner: Runner | None = None
    planner = corpus.planner()
    for stage in stages:
        decisions = list(planner.decisions(stage).values())
        due = [d for d in decisions if d.status is not Status.FRESH and not d.blocked]
        blocked = [d for d in decisions if d.blocked]
        report.fresh += sum(d.status is Status.FRESH for d in decisions)
        report.waiting += [f"{d.name}: {d.blocked}" for d in blocked]
        report.held_back += [d.held_back for d in blocked if d.held_back and d.held_back not in report.held_back]
        if rewritten := [d.partition for d in decisions if d.rewritten]:
            corpus.step(stage, rewritten).run()
        if due:
            progress.stage(stage, len(due))
            runner = runner or _runner(corpus, report, progress, instance)
            runner.run(stage, due, blocked)
        if due or rewritten:
            planner = corpus.planner()
        if checks and stage.gate is not None and (due or _is_used(planner, stage)):
            runner = runner or _runner(corpus, report, progress, instance)
            runner.check([stage.name])
    report.notes = build_notes(planner)
    report.orphans = len(planner.orphans())
    if runner is not None and checks:
        runner.check([name for name in report.by_asset if _is_whole(planner, corpus.graph[name])])


def _is_whole(planner: Planner, stage: Stage) -> bool:
    """Whether all of a finished stage can be checked now; a gate is looked at before what reads it is made."""
    decisions = planner.decisions(stage).values()
    return stage.gate is None and all(decision.status is Status.FRESH for decision in decisions)


def _is_used(planner: Planner, stage: Stage) -> bool:
    """Whether a finished stage is about to be read by anything: its gate is then looked at anew."""
    if any(decision.status is not Status.FRESH for decision in planner.decisions(stage).values()):
        return False
    readers = planner.graph.readers(stage.name)
    decisions = [decision for reader in readers for decision in planner.decisions(reader).values()]
    return any(decision.status is not Status.FRESH for decision in decisions)


def _runner(corpus: Corpus, report: Report, progress: Progress, instance: dg.DagsterInstance | None) -> Runner:
    from corpus_assets.orchestration.runner import Runner

    return Runner(corpus, report, progress, instance)
