"""The loop of a build: hands partitions to the engine as they become ready, and takes note of what became of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from corpus_assets.corpus import Corpus
from corpus_assets.elsewhere import Elsewhere
from corpus_assets.jobs import Jobs
from corpus_assets.orchestration.background import Background
from corpus_assets.orchestration.build_report import Progress, Report
from corpus_assets.orchestration.causes import first_cause
from corpus_assets.orchestration.drop_reasons import drop_reasons
from corpus_assets.orchestration.failures import KeptFailures
from corpus_assets.orchestration.freshness import Freshness, decide_again, freshness
from corpus_assets.orchestration.work import Work
from corpus_assets.restamping import restamp
from resources.engine.interface import Queue
from resources.errors import CorpusError, LedgerError
from resources.planning.frontier import Frontier
from resources.planning.planner import Decision, Planner, Status
from resources.records import Record
from resources.stage.declaration import Partitioning, Stage
from resources.stage.hooks import Hooks, gives
from resources.stage.job import Job, Outcome

if TYPE_CHECKING:
    from corpus_assets.orchestration.runner import Runner

Key = tuple[str, str | None]
BUILT_ELSEWHERE = "built by another builder"


class Builder:
    """Brings stages up to date, with one look at the raw files and at the ledger.

    planner: the state before the build; it is kept up to date. runner: makes what reports to Dagster, from the reason
    for the build; it is only called when there is something to do, in a thread of its own, so that Dagster is loaded
    and events are stored while workers compute. checks: whether asset checks are run.
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
        self._work: Work | None = None
        self._started: set[str] = set()
        self._begun: dict[Key, Decision] = {}
        self._held: dict[Key, Outcome] = {}
        self._elsewhere = Elsewhere(planner)
        self._waited_for = ""
        self._damaged: set[Key] = set()
        self._some_are_gone = False
        self._built: set[Key] = set()
        self._replaced: dict[Key, set[str]] = {}
        self._settled: list[Stage] = []
        self._checking: Callable[[], list[str]] | None = None

    @cached_property
    def _jobs(self) -> Jobs:
        return self._corpus.jobs(self._planner)

    def run(self) -> None:
        """Computes all that can be computed."""
        try:
            for stage in self._stages:
                restamp(self._planner, self._planner.decisions(stage).values(), self._corpus.builder)
            self._tell_of_work()
            self._settle()
            self._tell_of_work()  # What stands behind fresh stages alone is known once these are settled.
            while self._frontier.waits or len(self._elsewhere):
                for outcome in self._corpus.engine.run(Queue(self._next, self._elsewhere.pause)):
                    self._take(outcome)
                    self._settle()
                self._lose()
                self._mend()
                self._settle()
                if not self._frontier.waits:
                    self._wait()
                    self._ask_again()
            self._decide_the_rest()
            self._begin_checks()
        except BaseException as error:
            with suppress(CorpusError, OSError):  # The fault that led here is the one to tell.
                self._remove_replaced()
            words = f"the build was interrupted ({type(error).__name__}); what it had committed is kept"
            self._close(words, interrupted=True)
            raise

    def _tell_of_work(self) -> None:
        """Says once how much there is to compute, as soon as there is something."""
        if self._work is None and self._frontier.waits:
            self._work = Work(self._planner, self._stages, self._corpus.engine.workers)
            self._progress.begins(self._work)

    def _wait(self) -> None:
        """Waits for other builders, and says once for which partition."""
        words = self._elsewhere.words()
        if words and words != self._waited_for:
            self._waited_for = words
            self._progress.doing(words)
        self._elsewhere.wait()

    @property
    def used_dagster(self) -> bool:
        """Whether anything was reported to Dagster."""
        return self._dagster.used

    def finish(self) -> Mapping[str, Freshness]:
        """Runs the checks that were not run yet, and ends what was reported to Dagster; returns what is fresh now."""
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
        self._end(f"{problems[0]}{more}" if problems else None)
        self._failures.forget(self._planner, overcome)
        return found

    def _fresh_now(self) -> Mapping[str, Freshness]:
        """Returns what of each asset is fresh, also of those that this build was not over."""
        if not self._started and not self._built:
            return self._before
        decide_again(self._planner, but=self._stages)
        return freshness(self._planner)

    def _end(self, problem: str | None) -> None:
        self._remove_replaced()
        self._close(problem)

    def _close(self, problem: str | None, *, interrupted: bool = False) -> None:
        if self._dagster.used:
            self._dagster.do(lambda runner: runner.close(problem, interrupted=interrupted))
            self._dagster.close()

    def _next(self) -> Job | None:
        whole_alone = self._corpus.engine.whole_alone
        decision = self._frontier.next(whole_alone=whole_alone)
        if decision is None and self._ask_again():
            decision = self._frontier.next(whole_alone=whole_alone)
        if decision is None:
            return None
        stage = self._planner.graph[decision.asset]
        if stage.name not in self._started:
            self._started.add(stage.name)
            due = sum(one.status is not Status.FRESH for one in self._planner.decisions(stage).values())
            self._progress.stage(stage, due)
            reasons = drop_reasons(stage, self._corpus.settings.values, self._planner.records(stage.name).values())
            self._dagster.do(lambda runner: runner.begins(stage, due, reasons))
        if stage.partitioning is Partitioning.NONE:
            self._work_ahead()
        self._begun[decision.asset, decision.partition] = decision
        self._count_running()
        expired = self._elsewhere.expired((decision.asset, decision.partition))
        return self._jobs.job(stage, decision.partition, expired)

    def _ask_again(self) -> bool:
        """Puts back the partitions that other builders held a while ago; returns whether there were any."""
        keys = list(self._elsewhere.due())
        for key in keys:
            self._put_back(key)
        return bool(keys)

    def _put_back(self, key: Key) -> None:
        del self._begun[key]
        self._frontier.again(*key)

    def _take(self, outcome: Outcome) -> None:
        """Takes an outcome; one that failed over a damaged input, met for the first time, is held until all is done.

        What another builder has just made counts as built.
        """
        if self._elsewhere.takes(outcome):
            self._frontier.set_aside(outcome.asset)
            self._count_running()
            return
        if outcome.damaged is not None and outcome.damaged not in self._damaged:
            self._held[outcome.asset, outcome.partition] = outcome
        else:
            self._conclude(outcome)

    def _conclude(self, outcome: Outcome) -> None:
        key = (outcome.asset, outcome.partition)
        decision = self._begun.pop(key)
        self._count_running()
        self._note(outcome, BUILT_ELSEWHERE if outcome.elsewhere else decision.reason)
        if outcome.record is not None:
            self._frontier.built(outcome.record)
        else:
            self._frontier.failed(*key, self._kept(*key))

    def _kept(self, asset: str, key: str | None) -> Record | None:
        """Returns the record that a partition still has, if it can be read."""
        with suppress(LedgerError):
            return self._corpus.ledger.read(asset, key)
        return None

    def _count_running(self) -> None:
        if self._work is not None:
            self._work.running = min(len(self._begun) - len(self._elsewhere), self._work.workers)

    def _note(self, outcome: Outcome, why: str) -> None:
        """Reports an outcome everywhere; the planner does not know it yet."""
        if self._work is not None:
            self._work.took(outcome)
        self._progress.outcome(outcome)
        self.report.add(outcome)
        self._failures.note(self._planner, outcome)
        if outcome.record is None:
            self._dagster.do(lambda runner: runner.failed(outcome))
            return
        record = outcome.record
        key = (outcome.asset, outcome.partition)
        self._built.add(key)
        before = self._planner.records(outcome.asset).get(outcome.partition)
        replaced = self._replaced.pop(key, set()) | ({file.path for file in before.files} if before else set())
        if obsolete := replaced - {file.path for file in record.files}:
            self._replaced[key] = obsolete
        for removed in outcome.gave_way:
            self._gave_way(removed)
        self._dagster.do(lambda runner: runner.built(record, why))

    def _gave_way(self, removed: Record) -> None:
        """Takes note of a record that was removed for files of another partition: its other files are nobody's."""
        known = self._planner.records(removed.asset).get(removed.partition)
        if known is not None and known.files == removed.files:  # It may have been made anew meanwhile.
            self._planner.forgotten(removed.asset, removed.partition)
        paths = {file.path for file in removed.files}
        self._replaced.setdefault((removed.asset, removed.partition), set()).update(paths)

    def _settle(self) -> None:
        for stage in self._frontier.settle():
            computed = {key for asset, key in self._built if asset == stage.name}
            if self._work is not None:
                self._work.settled(stage.name)
            if stage.name in self._started:
                self._progress.settled(stage)
                self._dagster.do(_settled(stage))
            if computed:
                self._corpus.ledger.save(stage.name, len(computed))
                self._settled.append(stage)
            if self._checks and gives(stage.hooks, Hooks.gate) and (computed or self._is_used(stage)):
                self._check([stage])

    def _lose(self) -> None:
        """Counts partitions as failed of which an engine said nothing."""
        for key, decision in list(self._begun.items()):
            if key not in self._held and key not in self._elsewhere:
                self._conclude(Outcome(decision.name, *key, error="the engine lost it"))

    def _mend(self) -> None:
        """Makes the damaged partitions again over which others failed, and lets these start once more."""
        held, self._held = self._held, {}
        damaged = dict.fromkeys(outcome.damaged for outcome in held.values() if outcome.damaged)
        self._damaged |= damaged.keys()
        # Not before: other jobs would only be told that their input does not exist.
        for key in damaged:
            self._corpus.ledger.forget_damaged(*key, self._corpus.builder)
        mended = {key for key in damaged if self._make_again(key)}
        for key in damaged.keys() - mended:
            if self._kept(*key) is None:
                self._planner.forgotten(*key)
                self._some_are_gone = True
        for key, outcome in held.items():
            if outcome.damaged in mended:
                self._frontier.set_aside(outcome.asset)
                self._put_back(key)
            else:
                self._conclude(outcome)

    def _make_again(self, key: Key) -> bool:
        step = self._corpus.step(self._corpus.graph[key[0]], [key[1]])
        why = {decision.partition: decision.reason for decision in step.due}
        for outcome in step.run():
            self._note(outcome, why.get(outcome.partition, ""))
        for record in step.records().values():
            self._frontier.committed(record)
        return key[1] in step.records() and not step.failures()

    def _decide_the_rest(self) -> None:
        """Makes all decisions again of what is not fresh, and adds them to the report.

        If a damaged partition could not be made again, what reads it is not fresh either: then all are made again.
        """
        self._planner.ask_gates_again()
        if self._some_are_gone:
            decide_again(self._planner, but=())
        for stage in self._stages:
            decisions = self._planner.decisions(stage)
            self._planner.decide_again(stage, [key for key, one in decisions.items() if one.status is not Status.FRESH])
            for key, decision in decisions.items():
                self.report.decided(decision, built=(stage.name, key) in self._built)

    def _remove_replaced(self) -> None:
        """Removes the files of replaced records that no record names any more."""
        replaced, self._replaced = self._replaced, {}
        self._corpus.remove_obsolete(replaced)

    def _check(self, stages: Sequence[Stage]) -> None:
        self.report.failed_checks += self._begin(stages)()

    def _begin(self, stages: Sequence[Stage]) -> Callable[[], list[str]]:
        names = [stage.name for stage in stages]
        self._progress.doing(f"checking {names[0]}" if len(names) == 1 else "checking")
        return self._dagster.begin(lambda runner: runner.check(names))

    def _begin_checks(self) -> None:
        """Has the checks run that were not run yet; `finish` waits for them."""
        if self._dagster.used and self._checks:
            computed = {asset for asset, _ in self._built}
            whole = [stage for stage in self._corpus.graph if stage.name in computed and self._is_whole(stage)]
            self._checking = self._begin(whole)

    def _work_ahead(self) -> None:
        """Has checked and summed up what is settled: one worker alone will compute."""
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
    """Returns what reports to Dagster, after it said what is not fresh, so that an interrupted build hides nothing."""
    made = runner(why)
    made.tell(before)
    return made


def _settled(stage: Stage) -> Callable[[Runner], None]:
    return lambda runner: runner.settled(stage)
