"""A build of many stages: the loop, followed by progress, report and Dagster, then the checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.loop import Follower, Loop
from corpus_assets.corpus.replaced import replaced_files
from corpus_assets.corpus.restamping import restamp
from corpus_assets.orchestration.building.background import Background
from corpus_assets.orchestration.building.report import Progress, Report
from corpus_assets.orchestration.building.work import Work
from corpus_assets.orchestration.freshness.causes import first_cause
from corpus_assets.orchestration.freshness.failures import KeptFailures
from corpus_assets.orchestration.freshness.state import Freshness, decide_again, freshness
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from resources.planning.frontier import Frontier
from resources.planning.planner import Decision, Planner, Status
from resources.stage.declaration import Partitioning, Stage
from resources.stage.hooks import Hooks, gives
from resources.stage.jobs.job import Outcome

if TYPE_CHECKING:
    from corpus_assets.orchestration.building.runner import Runner

LOOK_SECONDS = 2.0
"""Seconds between two looks at what is in work."""


class Builder(Follower):
    """Brings stages up to date, with one look at the raw files and at the ledger.

    planner: the state before the build; it is kept up to date.
    runner: makes what reports to Dagster, from the reason for the build; it is only called when there is something to
        do, in a thread of its own, so that Dagster is loaded and events are stored while workers compute.
    checks: whether asset checks are run.
    """

    def __init__(
        self,
        corpus: Corpus,
        planner: Planner,
        stages: Sequence[Stage],
        progress: Progress,
        runner: Callable[[str], Runner],
        *,
        checks: bool,
    ) -> None:
        self._corpus = corpus
        self._planner = planner
        self._stages = stages
        self._progress = progress
        self.report = Report()
        self._before = freshness(planner)
        self._dagster = Background(partial(_connected, runner, first_cause(planner, stages), self._before))
        self._checks = checks
        self._failures = KeptFailures(corpus.storage)
        self._frontier = Frontier(planner, stages)
        self._loop: Loop
        self._work: Work | None = None
        self._started: set[str] = set()
        self._settled: list[Stage] = []
        self._in_work: dict[tuple[str, str | None], float] = {}
        self._checking: Callable[[], list[str]] | None = None

    def run(self) -> None:
        """Computes all that can be computed."""
        try:
            for stage in self._stages:
                restamp(self._planner, self._planner.decisions(stage).values(), self._corpus.builder)
            with replaced_files(self._corpus) as replaced:
                self._loop = Loop(self._corpus, self._planner, self._frontier, self, replaced)
                self._tell_of_work()
                self._loop.settle()
                self._tell_of_work()  # Decisions behind fresh stages are known only after these are settled.
                self._loop.run()
            self._decide_the_rest()
            self._begin_checks()
        except BaseException as error:
            words = f"the build was interrupted ({type(error).__name__}); what it had committed is kept"
            self._close(words, interrupted=True)
            raise

    def _tell_of_work(self) -> None:
        """Reports once how much there is to compute, as soon as there is something."""
        if self._work is None and self._frontier.waits:
            self._work = Work(self._planner, self._stages, self._corpus.engine.workers)
            self._progress.begins(self._work)

    @property
    def used_dagster(self) -> bool:
        """Whether anything was reported to Dagster."""
        return self._dagster.used

    def finish(self) -> Mapping[str, Freshness]:
        """Runs the remaining checks, and ends the report to Dagster; returns the freshness of all assets."""
        if self._checking is not None:
            self.report.failed_checks += self._checking()
        problems = [*self.report.failed, *self.report.failed_checks]
        more = f"\nand {len(problems) - 1} more" if len(problems) > 1 else ""
        found = self._fresh_now()
        overcome = self._failures.overcome(self._planner)
        if overcome:
            self._dagster.do(lambda runner: runner.overcome(overcome))
        if self._dagster.used:
            self._dagster.do(lambda runner: runner.total())
            self._dagster.do(lambda runner: runner.tell(found))
            self.report.run = self._dagster.ask(lambda runner: runner.run_id)
        self._close(f"{problems[0]}{more}" if problems else None)
        self._failures.forget(self._planner, overcome)
        return found

    def _fresh_now(self) -> Mapping[str, Freshness]:
        """Returns the freshness of each asset, also of those outside this build."""
        if not self._started and not self._loop.built:
            return self._before
        decide_again(self._planner, but=self._stages)
        return freshness(self._planner)

    def _close(self, problem: str | None, *, interrupted: bool = False) -> None:
        if self._dagster.used:
            self._dagster.do(lambda runner: runner.close(problem, interrupted=interrupted))
            self._dagster.close()

    @override
    def begins(self, decision: Decision) -> None:
        stage = self._planner.graph[decision.asset]
        if not self._started:
            # A copy, since this thread changes the dictionary: a list of items may be interrupted between two of them.
            self._dagster.every(LOOK_SECONDS, lambda runner: runner.in_work(list(self._in_work.copy().items())))
        self._in_work[decision.asset, decision.partition] = time.monotonic()
        if stage.name not in self._started:
            self._started.add(stage.name)
            if self._work is not None:
                self._work.begins(stage)
            due = sum(one.status is not Status.FRESH for one in self._planner.decisions(stage).values())
            self._progress.stage(stage, due)
            reasons = drop_reasons(stage, self._corpus.settings.values, self._planner.records(stage.name).values())
            self._dagster.do(lambda runner: runner.begins(stage, due, reasons))
        if stage.partitioning is Partitioning.NONE:
            self._work_ahead()

    @override
    def running(self, count: int) -> None:
        if self._work is not None:
            self._work.running = min(count, self._work.workers)

    @override
    def waits(self, words: str) -> None:
        self._progress.doing(words)

    @override
    def done(self, outcome: Outcome, why: str) -> None:
        self._in_work.pop((outcome.asset, outcome.partition), None)
        if self._work is not None:
            self._work.took(outcome)
        self._progress.outcome(outcome)
        self.report.add(outcome)
        self._failures.note(self._planner, outcome)
        record = outcome.record
        if record is None:
            self._dagster.do(lambda runner: runner.failed(outcome))
        else:
            self._dagster.do(lambda runner: runner.built(record, why))

    @override
    def settled(self, stage: Stage) -> None:
        computed = any(asset == stage.name for asset, _ in self._loop.built)
        if self._work is not None:
            self._work.settled(stage.name)
        if stage.name in self._started:
            self._progress.settled(stage)
            self._dagster.do(lambda runner: runner.settled(stage))
        if computed:
            self._settled.append(stage)
        if self._checks and gives(stage.hooks, Hooks.gate) and (computed or self._is_used(stage)):
            self._check([stage])

    def _decide_the_rest(self) -> None:
        """Decides again about everything that is not fresh, and adds it to the report.

        If a damaged partition could not be rebuilt, its readers are not fresh either, so everything is decided again.
        """
        self._planner.ask_gates_again()
        if self._loop.gone:
            decide_again(self._planner, but=())
        for stage in self._stages:
            decisions = self._planner.decisions(stage)
            self._planner.decide_again(stage, [key for key, one in decisions.items() if one.status is not Status.FRESH])
            for key, decision in decisions.items():
                self.report.decided(decision, built=(stage.name, key) in self._loop.built)

    def _check(self, stages: Sequence[Stage]) -> None:
        self.report.failed_checks += self._begin(stages)()

    def _begin(self, stages: Sequence[Stage]) -> Callable[[], list[str]]:
        names = [stage.name for stage in stages]
        self._progress.doing(f"checking {names[0]}" if len(names) == 1 else "checking")
        return self._dagster.begin(lambda runner: runner.check(names))

    def _begin_checks(self) -> None:
        """Starts the remaining checks; `finish` waits for them."""
        if self._dagster.used and self._checks:
            computed = {asset for asset, _ in self._loop.built}
            whole = [stage for stage in self._corpus.graph if stage.name in computed and self._is_whole(stage)]
            self._checking = self._begin(whole)

    def _work_ahead(self) -> None:
        """Starts checks and sums of settled assets while only one worker computes."""
        settled, self._settled = self._settled, []
        if settled:
            checked = [stage.name for stage in settled if self._checks and self._is_whole(stage)]
            self._dagster.do(lambda runner: runner.work_ahead(checked, [stage.name for stage in settled]))

    def _is_whole(self, stage: Stage) -> bool:
        """Returns whether the checks of a stage can run at the end: all of it is fresh, and it has no gate.

        The checks of a stage with a gate run before any stage reads it.
        """
        return not gives(stage.hooks, Hooks.gate) and self._planner.all_fresh(stage)

    def _is_used(self, stage: Stage) -> bool:
        """Returns whether a fresh stage is about to be read by one that is not, so that its gate must be checked."""
        readers = self._planner.graph.readers(stage.name)
        return self._planner.all_fresh(stage) and not all(self._planner.all_fresh(reader) for reader in readers)


def _connected(runner: Callable[[str], Runner], why: str, before: Mapping[str, Freshness]) -> Runner:
    """Returns the runner, after it reported what is not fresh, so that an interrupted build hides nothing."""
    made = runner(why)
    made.tell(before)
    return made
