"""`corpus build`: computes what the plan says, and reports it to Dagster, so that the web UI shows everything.

The engine distributes partitions of all stages over its workers. Dagster sees one run of the same assets that the web
UI and `dagster asset materialize` use.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.diff.history import keep
from corpus_assets.diff.recorded import numbers_of
from corpus_assets.left_beside import left_beside_note
from corpus_assets.orchestration.building.builder import Builder
from corpus_assets.orchestration.building.notes import build_notes, dropped_examples
from corpus_assets.orchestration.building.report import Progress, Report
from corpus_assets.orchestration.building.summary import summary
from corpus_assets.orchestration.building.telling.notices import tell_of_end
from corpus_assets.orchestration.freshness.causes import causes
from corpus_assets.orchestration.freshness.state import Freshness, is_told
from corpus_assets.orchestration.home.faults import require_home
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.raw.rehash import forget_stamps
from resources.kernels.compiling import compiled_ahead
from resources.ledger.ledger import Record
from resources.planning.planner import Planner
from resources.processes.collector import loading
from resources.stage.declaration import Stage, kernels_of
from resources.tidying import left_behind

if TYPE_CHECKING:
    import dagster as dg

    from corpus_assets.orchestration.building.runner import JobStep, Runner


def build(
    corpus: Corpus,
    stages: Sequence[Stage],
    progress: Progress,
    *,
    checks: bool = True,
    rehash: bool = False,
    instance: JobStep | dg.DagsterInstance | None = None,
) -> Report:
    """Brings the given stages up to date, and tells everybody named in `notices` how that ended.

    A partition that fails does not stop the others.

    rehash: read all raw files again, whatever their sizes and times. instance: where the build is reported, by default
    that of the corpus; or the step of a job that drives the build.
    """
    started = time.monotonic()
    try:
        report = _build(corpus, stages, progress, checks=checks, rehash=rehash, instance=instance)
    except Exception as error:
        seconds = round(time.monotonic() - started, 3)
        tell_of_end(corpus, Report(seconds=seconds, run=_run_id(instance)), progress.warns, error)
        raise
    report.seconds = round(time.monotonic() - started, 3)
    tell_of_end(corpus, report, progress.warns)
    return report


def _run_id(within: JobStep | dg.DagsterInstance | None) -> str:
    run: dg.DagsterRun | None = getattr(within, "run", None)
    return run.run_id if run else ""


def _build(
    corpus: Corpus,
    stages: Sequence[Stage],
    progress: Progress,
    *,
    checks: bool,
    rehash: bool,
    instance: JobStep | dg.DagsterInstance | None,
) -> Report:
    progress.doing("planning")
    for stage in stages:  # Reports a missing file of the configuration before hours of work.
        corpus.settings.derived_parameters(stage)
    if rehash:
        with corpus.exclusive():
            forget_stamps(corpus.planner())
    with corpus.building() as others:
        if not corpus.storage.shares:
            progress.alone(corpus.storage.place)
        if others:
            progress.shares([other.words.rstrip(",") for other in others])
        planner = corpus.planner()
        planner.look()
        due = _due(corpus, planner, stages)
        if due and instance is None:
            require_home(corpus.home)
        planner.check_before(due)
        try:
            with compiled_ahead(_kernels(corpus, due), progress.aside):
                committed = {stage.name: list(planner.records(stage.name).values()) for stage in corpus.graph}
                names = [stage.name for stage in stages]
                runner = partial(_runner, corpus, planner, instance, stages=names, committed=committed)
                builder = Builder(corpus, planner, stages, progress, runner, checks=checks)
                builder.run()
                report = builder.report
                report.changes = corpus.changes
                report.notes = build_notes(planner)
                report.examples = dropped_examples(planner)
                report.orphans = len(planner.orphans())
                report.causes = causes(planner, stages)
                report.summary = summary(planner)
                if report.recomputed or report.elsewhere:
                    keep(corpus.storage, numbers_of(planner))
                found = builder.finish()
                report.notes[:0] = left_beside_note(planner)  # After the files of replaced records are removed.
                if not builder.used_dagster:
                    _tell(corpus, instance, found)
        finally:
            corpus.close()
    progress.done()
    report.notes += left_behind()
    return report


def _tell(corpus: Corpus, within: JobStep | dg.DagsterInstance | None, found: Mapping[str, Freshness]) -> None:
    """Reports freshness if it differs from the last report, since a change may have been taken back.

    Dagster is not loaded if nothing was ever reported, or nothing has changed.
    """
    home = dagster_home(corpus.home)
    if within is None and (not home.is_dir() or is_told(corpus.storage, home, found)):
        return
    from corpus_assets.orchestration.building.runner import tell_of

    tell_of(corpus, within, found)


def _due(corpus: Corpus, planner: Planner, stages: Sequence[Stage]) -> list[Stage]:
    """Returns the stages with anything to compute. The engine begins to start while others are still examined."""
    due: list[Stage] = []
    for place, stage in enumerate(stages):
        if not planner.all_fresh(stage):
            if not due:
                corpus.engine.prepare(_modules(stages[place:]))
            due.append(stage)
    return due


def _modules(stages: Iterable[Stage]) -> list[str]:
    """Returns the project's modules that compute these stages; a user's own modules load with their first job."""
    functions = (stage.compute.func if isinstance(stage.compute, partial) else stage.compute for stage in stages)
    ours = __name__.partition(".")[0]
    return [name for name in dict.fromkeys(one.__module__ for one in functions) if name.partition(".")[0] == ours]


def _kernels(corpus: Corpus, stages: Sequence[Stage]) -> list[str]:
    """Returns the kernels that workers will call, in the order of the stages."""
    if not stages or corpus.engine.workers == 0:  # This process calls them itself, one after the other.
        return []
    return kernels_of(stages, corpus.settings.values)


def _runner(
    corpus: Corpus,
    planner: Planner,
    within: JobStep | dg.DagsterInstance | None,
    why: str,
    *,
    stages: Sequence[str],
    committed: Mapping[str, list[Record]],
) -> Runner:
    with loading():
        from corpus_assets.orchestration.building.runner import Runner

    return Runner(corpus, planner, within, why, stages=stages, committed=committed)
