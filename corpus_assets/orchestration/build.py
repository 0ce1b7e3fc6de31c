"""`corpus build`: runs the plan stage by stage through Dagster, so that the web UI shows everything.

Each stage is one in-process Dagster run per contiguous range of its partitions that are not fresh, of the same assets
that the web UI and `dagster asset materialize` use; the engine spreads the work of a run over its workers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.build_report import Progress, Report
from corpus_assets.orchestration.causes import causes
from corpus_assets.orchestration.notes import build_notes
from corpus_assets.orchestration.summary import summary
from corpus_assets.raw.rehash import forget_stamps
from resources.compiling import compiled_ahead
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Stage, kernels_of

if TYPE_CHECKING:
    import dagster as dg

    from corpus_assets.orchestration.runner import Runner


def build(
    corpus: Corpus,
    stages: Sequence[Stage],
    progress: Progress,
    *,
    checks: bool = True,
    rehash: bool = False,
    instance: dg.DagsterInstance | None = None,
) -> Report:
    """Brings the given stages up to date, in order. A partition that fails does not stop the others.

    rehash: all raw files are read again, whatever their sizes and times say.
    """
    started = time.monotonic()
    report = Report()
    progress.doing("planning")
    for stage in stages:  # Reports a missing file that the configuration names before hours of work.
        corpus.settings.derived_parameters(stage)
    with corpus.exclusive():
        corpus.storage.remove_abandoned()
        if rehash:
            forget_stamps(corpus.planner())
        due = _check_before(corpus, stages)
        try:
            with compiled_ahead(_kernels(corpus, due), progress.aside):
                _build(corpus, stages, progress, report, checks=checks, instance=instance)
        finally:
            corpus.engine.close()
    progress.done()
    report.seconds = round(time.monotonic() - started, 3)
    return report


def _check_before(corpus: Corpus, stages: Sequence[Stage]) -> list[Stage]:
    """Returns the stages with anything to compute; `ConfigError` for what would fail only after hours of work."""
    planner = corpus.planner()
    found = []
    for stage in stages:
        if any(decision.status is not Status.FRESH for decision in planner.decisions(stage).values()):
            found.append(stage)
            if stage.check_before is not None:
                stage.check_before(corpus.settings.values)
    return found


def _kernels(corpus: Corpus, stages: Iterable[Stage]) -> list[str]:
    """Returns the kernels that workers will call, in the order of the stages."""
    if corpus.engine.workers == 0:  # This process calls them itself, one after the other.
        return []
    return kernels_of(stages, corpus.settings.values)


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
            progress.doing("planning")
        if due or rewritten:
            planner = corpus.planner()
        if checks and stage.gate is not None and (due or _is_used(planner, stage)):
            runner = runner or _runner(corpus, report, progress, instance)
            runner.check([stage.name])
    report.notes = build_notes(planner)
    report.orphans = len(planner.orphans())
    report.causes = causes(planner, stages)
    report.summary = summary(planner)
    if runner is not None and checks:
        runner.check([name for name in report.by_asset if _is_whole(planner, corpus.graph[name])])


def _is_whole(planner: Planner, stage: Stage) -> bool:
    """Returns whether the checks of a stage can run at the end: all of it is fresh, and it has no gate.

    The checks of a stage with a gate run before any stage reads it.
    """
    decisions = planner.decisions(stage).values()
    return stage.gate is None and all(decision.status is Status.FRESH for decision in decisions)


def _is_used(planner: Planner, stage: Stage) -> bool:
    """Returns whether a fresh stage is about to be read by a stage that is not, so that its gate must be checked."""
    if any(decision.status is not Status.FRESH for decision in planner.decisions(stage).values()):
        return False
    readers = planner.graph.readers(stage.name)
    decisions = [decision for reader in readers for decision in planner.decisions(reader).values()]
    return any(decision.status is not Status.FRESH for decision in decisions)


def _runner(corpus: Corpus, report: Report, progress: Progress, instance: dg.DagsterInstance | None) -> Runner:
    progress.doing("starting Dagster")
    from corpus_assets.orchestration.runner import Runner

    return Runner(corpus, report, progress, instance)
