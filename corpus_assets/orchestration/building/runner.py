"""Reports a build to Dagster: events, metadata and lineage of its partitions, its stages as steps, and its checks."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.orchestration.assembly import assemble
from corpus_assets.orchestration.asset import step_name
from corpus_assets.orchestration.building.build_checks import BuildChecks
from corpus_assets.orchestration.building.in_work import Begun, InWork
from corpus_assets.orchestration.events.event_batch import EventBatch, event_batch
from corpus_assets.orchestration.events.lost_events import (
    DRIVER_TAG,
    announced_by,
    killed_builds,
    lost_records,
    mark,
    told_until,
)
from corpus_assets.orchestration.events.run import add_run
from corpus_assets.orchestration.events.run_events import Entry, RunEvents
from corpus_assets.orchestration.freshness.checks import tell
from corpus_assets.orchestration.freshness.state import Freshness
from corpus_assets.orchestration.home.folder import dagster_home
from corpus_assets.orchestration.instance.instance import process_tags, project_instance, usable
from corpus_assets.orchestration.shown.drop_reasons import drop_reasons
from corpus_assets.orchestration.shown.partition_events import Materializations, failure, step_failure_message
from corpus_assets.orchestration.shown.provenance import Provenance
from corpus_assets.orchestration.shown.totals import told_apart, totals
from partitions.shards import register_shards
from resources.ledger.ledger import Record
from resources.ledger.records import set_words
from resources.planning.planner import Planner
from resources.stage.declaration import Partitioning, Stage
from resources.stage.jobs.job import Outcome

WHY_TAG = "corpus/why"
BUILD_TAG = "corpus/build"
SET_TAG = "corpus/set"
LOST_WHY = "committed by a build that did not report to this Dagster instance"
OVERCOME_WHY = "fresh, not computed again: what had changed when it failed was taken back"
MAX_WHY = 200
BATCH = 256
BATCH_SECONDS = 5.0


@dataclass
class _Pending:
    """Events of partitions of one stage that are not stored yet, each with its time."""

    built: list[tuple[Record, str, float]] = field(default_factory=list)
    failed: list[tuple[Outcome, float]] = field(default_factory=list)


@dataclass(frozen=True)
class JobStep:
    """The step of a Dagster job in which a build runs, with its instance and run."""

    instance: dg.DagsterInstance
    run: dg.DagsterRun
    key: str


def _instance(corpus: Corpus, within: JobStep | dg.DagsterInstance | None) -> dg.DagsterInstance:
    given = within.instance if isinstance(within, JobStep) else within
    return given or project_instance(corpus.home)


def tell_of(corpus: Corpus, within: JobStep | dg.DagsterInstance | None, found: Mapping[str, Freshness]) -> None:
    """Reports the freshness of each asset, for a build that had nothing to do. within: see `Runner`."""
    with usable(dagster_home(corpus.home)):
        tell(corpus, _instance(corpus, within), found)


class Runner:
    """The Dagster side of one build. A build makes it only when there is something to do: importing Dagster is slow.

    within: the step of a job that drives the build, to whose run everything is reported; else the build gets a run of
        its own, with a step per stage, in the given instance or that of the corpus.
    stages: names of those that the build is over.
    committed: the records of every stage of the corpus before it; Dagster is told now of those that it does not know.
    """

    def __init__(
        self,
        corpus: Corpus,
        planner: Planner,
        within: JobStep | dg.DagsterInstance | None,
        why: str,
        *,
        stages: Sequence[str],
        committed: Mapping[str, list[Record]],
    ) -> None:
        self._corpus = corpus
        self._home = dagster_home(corpus.home)
        self._within = within if isinstance(within, JobStep) else None
        self._instance = _instance(corpus, within)
        self._planner = planner
        self._sums: dict[str, dg.AssetMaterialization] = {}
        with usable(self._home):
            register_shards(planner, self._instance)
            killed = killed_builds(self._instance)
            since = told_until(self._instance, killed)
            tags = {DRIVER_TAG: "build", **process_tags()}
            self._run = (
                self._within.run
                if self._within
                else add_run(self._instance, assemble(corpus).job(), stages, tags, corpus.folder)
            )
            changed = {SET_TAG: set_words(corpus.changes)[:MAX_WHY]} if corpus.changes else {}
            about = {WHY_TAG: why[:MAX_WHY], BUILD_TAG: self._run.run_id, **changed}
            self._instance.add_run_tags(self._run.run_id, about)
            self._events = RunEvents(self._run.run_id, self._run.job_name)
            self._provenance = Provenance(self._instance)
            if self._within is None:
                self._report(self._events.run_starts("A build started: `corpus build`, or a job that does the same."))
        run = self._within.run if self._within else None
        self._checks = BuildChecks(corpus, planner, self._instance, self._events, self._store_checks, within=run)
        self._pending: dict[str, _Pending] = defaultdict(_Pending)
        self._waiting = 0
        self._stored = time.monotonic()
        self._lines: list[Entry] = []
        self._reasons: dict[str, set[str]] = {}
        self._begun: dict[str, float] = {}
        self._told: set[str] = set()
        self._in_work = InWork(self._events, lambda asset: self._step_of(corpus.graph[asset]))
        self._failures: dict[str, list[str]] = defaultdict(list)
        self._computed: Counter[str] = Counter()
        with usable(self._home):
            self._report_lost(committed, since, killed)
            for found in killed:
                mark(self._instance, found.dagster_run, untold=False)

    @property
    def run_id(self) -> str:
        """The id of the run that the build is reported to."""
        return self._run.run_id

    def _report(self, event: dg.DagsterEvent) -> None:
        self._instance.report_dagster_event(event, self._run.run_id)

    def _store_checks(self, entries: Sequence[Entry]) -> None:
        with event_batch(self._instance, self._run.run_id) as batch:
            batch.check(entries)

    def _report_lost(self, committed: Mapping[str, list[Record]], since: float, killed: Sequence[dg.RunRecord]) -> None:
        """Reports the partitions that were committed since Dagster was last up to date. since: that time.

        Those that killed builds had in work are reported too, since Dagster shows them as failed.
        """
        lost = list(lost_records(self._instance, since, committed))
        known = {(record.asset, record.partition) for record in lost}
        announced = {(asset, key) for asset, key in announced_by(self._instance, killed, committed)} - known
        again = (record for asset in committed for record in committed[asset])
        self._report_again([*lost, *(one for one in again if (one.asset, one.partition) in announced)], LOST_WHY)

    def overcome(self, records: Iterable[Record]) -> None:
        """Reports partitions that failed and are fresh now, which Dagster would show as failed."""
        self._report_again(records, OVERCOME_WHY)

    def _report_again(self, records: Iterable[Record], why: str) -> None:
        for record in records:
            self._pending[record.asset].built.append((record, why, time.time()))
            self._waiting += 1
        self.store()

    def _step_of(self, stage: Stage) -> str:
        return self._within.key if self._within else step_name(stage)

    def begins(self, stage: Stage, due: int, reasons: Iterable[str]) -> None:
        """Reports that the first partition of a stage is about to be computed.

        reasons: all for which it may drop rows.
        """
        self._begun[stage.name] = time.time()
        self._reasons[stage.name] = set(reasons)
        if self._within is None:
            self._log(self._events.step_starts(self._step_of(stage), f"{stage.name}: {due} partitions to compute"))

    def _log(self, event: dg.DagsterEvent) -> None:
        """Stores an event that is of the run alone, and of no asset, with the next batch."""
        self._lines.append(self._events.entry(event, time.time()))

    def built(self, record: Record, why: str) -> None:
        """Reports a computed partition. why: the reason in words."""
        self._computed[record.asset] += 1
        self._sums.pop(record.asset, None)
        self._checks.forget(record.asset)
        self._pending[record.asset].built.append((record, why, time.time()))
        self._one_more()

    def failed(self, outcome: Outcome) -> None:
        """Reports a partition that failed."""
        self._failures[outcome.asset].append(f"{outcome.name}: {outcome.error}")
        self._pending[outcome.asset].failed.append((outcome, time.time()))
        self._one_more()

    def in_work(self, begun: Begun) -> None:
        """Announces the partitions that have been in work for a while, and stores what has waited for long."""
        if time.monotonic() - self._stored > BATCH_SECONDS:
            self.store()
        if new := self._in_work.announcements(begun):
            with usable(self._home), event_batch(self._instance, self._run.run_id) as batch:
                for entries in new:
                    batch.add(entries)

    def settled(self, stage: Stage) -> None:
        """Reports that nothing of a stage will be computed any more."""
        if self._within is not None:
            return
        step, failures = self._step_of(stage), self._failures[stage.name]
        asked = self._computed[stage.name] + len(failures)
        if failures:
            self._log(self._events.step_fails(step, step_failure_message(failures, asked)))
        else:
            seconds = time.time() - self._begun[stage.name]
            self._log(self._events.step_succeeds(step, seconds, f"{stage.name}: {asked} partitions computed"))

    def _one_more(self) -> None:
        self._waiting += 1
        if self._waiting >= BATCH or time.monotonic() - self._stored > BATCH_SECONDS:
            self.store()

    def store(self) -> None:
        """Stores the events of all partitions that are done, those of each stage after those of what it reads."""
        if self._waiting or self._lines:
            for name in self._pending:  # An open batch locks the database, also for this process.
                self._provenance.look_up(self._corpus.graph[name])
            with usable(self._home), event_batch(self._instance, self._run.run_id) as batch:
                for stage in self._corpus.graph:
                    if (pending := self._pending.pop(stage.name, None)) is not None:
                        self._store(stage, pending, batch)
                batch.log(self._lines)
        self._lines = []
        self._waiting = 0
        self._stored = time.monotonic()

    def _store(self, stage: Stage, pending: _Pending, batch: EventBatch) -> None:
        events, step, key = self._events, self._step_of(stage), asset_key(stage.name)
        entries = []
        for failed, when in pending.failed:
            entries.append(events.entry(events.planned(step, key, failed.partition), when))
            entries.append(events.entry(events.observed(step, failure(failed)), when))
        tags = self._provenance.tags(stage) if pending.built else {}
        known = self._reasons.setdefault(stage.name, set())
        known.update(drop_reasons(stage, self._corpus.settings.values, (record for record, _, _ in pending.built)))
        make = Materializations(self._corpus, stage, sorted(known), tags)
        if pending.built:
            self._told.add(stage.name)
        for record, why, when in pending.built:
            entries.append(events.entry(events.materialized(step, make.of(record, why, new=True)), when))
        last = batch.add(entries)
        if pending.built:
            self._provenance.newest(stage.name, last, pending.built[-1][0].digest)

    def check(self, names: Sequence[str]) -> list[str]:
        """Runs the checks of these assets that did not run early; returns the failures of all, in words."""
        if self._checks.has(names):
            self.store()
        return self._checks.run(names)

    def work_ahead(self, checked: Sequence[str], summed: Sequence[str]) -> None:
        """Runs checks and sums of assets that need no workers, while these compute."""
        if self._checks.has(checked):
            self.store()
            self._checks.run_early(checked)
        self._sums |= totals(self._planner, [self._corpus.graph[name] for name in summed])

    def tell(self, found: Mapping[str, Freshness]) -> None:
        """Reports the freshness of each asset by its check `fresh`."""
        self.store()
        with usable(self._home):
            tell(self._corpus, self._instance, found)

    def total(self) -> None:
        """Reports the sums of all assets with new events; of all assets with raw files, if these changed.

        They come last, because the web UI shows the newest event of an asset.
        """
        self.store()
        graph, told = self._corpus.graph, set(self._told)
        listed = any(stage.lists_shards and stage.name in told for stage in graph)
        chosen = [
            stage for stage in graph if stage.name in told or (listed and stage.partitioning is Partitioning.SHARD)
        ]
        self._sums |= totals(self._planner, [stage for stage in chosen if stage.name not in self._sums])
        found = {stage.name: self._sums[stage.name] for stage in chosen if stage.name in self._sums}
        with usable(self._home):
            if told_apart(self._instance, self._run, found.values()):
                return
        with usable(self._home), event_batch(self._instance, self._run.run_id) as batch:
            for name, event in found.items():
                made = self._events.materialized(self._step_of(self._corpus.graph[name]), event)
                batch.add([self._events.entry(made, time.time())])

    def close(self, problem: str | None, *, interrupted: bool = False) -> None:
        """Stores the remaining events and ends the run.

        problem: why the build is not complete; None if all went well. interrupted: workers may have committed
        partitions, or still do, without reporting them.
        """
        self.store()
        if self._within is not None:
            return
        with usable(self._home):
            if interrupted:
                mark(self._instance, self._run, untold=True)
            if problem is None:
                self._report(self._events.run_succeeds(f"{self._computed.total()} partitions computed"))
            else:
                self._instance.report_run_failed(self._run, problem)
