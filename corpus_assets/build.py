"""`corpus build`: runs the plan stage by stage through Dagster, so that everything shows in the web UI.

Each stage is one in-process Dagster run per contiguous range of its not-fresh partitions, of the very assets that the
web UI and `dagster asset materialize` use; the work inside is spread over the engine's workers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from corpus_assets.corpus import Corpus
from corpus_assets.dedup.report import MIN_JUDGED
from resources.execute import Outcome
from resources.graph import Partitioning, Stage
from resources.plan import Decision, Planner, Status

if TYPE_CHECKING:
    import dagster as dg

MAX_RUNS_PER_STAGE = 16
MUCH = 0.1  # share of discarded documents that is worth a word


class Progress(Protocol):
    """Who wants to know how a build goes."""

    def stage(self, stage: Stage, due: int) -> None:
        """A stage starts, with so many partitions to compute."""

    def outcome(self, outcome: Outcome) -> None:
        """One partition is done, or failed."""


@dataclass
class Report:
    """What a build did."""

    recomputed: int = 0
    fresh: int = 0
    failed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    failed_checks: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    orphans: int = 0
    seconds: float = 0.0
    by_asset: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether everything that was asked for is fresh now, and every check passed."""
        return not (self.failed or self.waiting or self.failed_checks)


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
        if stage.extra_parameters is not None:
            stage.extra_parameters(corpus.settings.values)
    with corpus.storage.exclusive():
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
    runner: _Runner | None = None
    planner = corpus.planner()
    for stage in stages:
        decisions = list(planner.decisions(stage).values())
        due = [d for d in decisions if d.status is not Status.FRESH and not d.blocked]
        blocked = [d for d in decisions if d.blocked]
        report.fresh += sum(d.status is Status.FRESH for d in decisions)
        report.waiting += [f"{_label(d)}: {d.blocked}" for d in blocked]
        if touched := [d.partition for d in decisions if d.touched]:
            corpus.pending(stage, touched).drive()
        if due:
            progress.stage(stage, len(due))
            runner = runner or _Runner(corpus, report, progress, instance)
            runner.run(stage, due, blocked)
        if due or touched:
            planner = corpus.planner()
        if checks and stage.gate is not None and (due or _is_used(planner, stage)):
            runner = runner or _Runner(corpus, report, progress, instance)
            runner.check([stage.name])
    report.notes = [
        *planner.listing.notes(),
        *dropped_notes(planner),
        *discarded_notes(planner),
        *loss_notes(planner),
    ]
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
    readers = [reader for reader in planner.graph if stage.name in {edge.asset for edge in reader.inputs}]
    decisions = [decision for reader in readers for decision in planner.decisions(reader).values()]
    return any(decision.status is not Status.FRESH for decision in decisions)


def dropped_notes(planner: Planner) -> list[str]:
    """Raw rows that gave no document, by source and reason; nothing is lost without a word."""
    readers = [stage for stage in planner.graph if stage.name.startswith(("normalized_documents", "examples/"))]
    records = {key: record for stage in readers for key, record in planner.records(stage.name).items()}
    own = {stage.source for stage in readers}
    rows: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {}
    for shard in planner.listing.shards:
        if record := records.get(shard.key):
            rows[shard.source] += record.statistics["rows_in"]
            dropped.setdefault(shard.source, Counter()).update(record.statistics.get("dropped", {}))
    return [
        f"{'dataset' if source in own else 'source'} {source}: {found.total():,} of {rows[source]:,} raw rows dropped ("
        + ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.items()))
        + ")"
        for source, found in dropped.items()
        if found.total()
    ]


def discarded_notes(planner: Planner) -> list[str]:
    """Datasets of which nothing was made, or much was discarded, with the reasons."""
    notes = []
    for stage in (stage for stage in planner.graph if stage.name.startswith("data_params/")):
        if (record := planner.records(stage.name).get(None)) is None:
            continue
        found = Counter(record.statistics.get("discarded", {}))
        rows, seen = record.statistics["rows_out"], record.statistics["documents"]
        if not rows or found.total() > MUCH * seen:
            why = ", ".join(f"{reason} {count:,}" for reason, count in sorted(found.items())) or "nothing to read"
            name = stage.name.partition("/")[2]
            notes.append(f"dataset {name}: {rows:,} rows; {found.total():,} of {seen:,} documents discarded ({why})")
    return notes


def loss_notes(planner: Planner) -> list[str]:
    """Small sources that all but went as duplicates: too few documents to stop a build, but nothing goes unsaid."""
    record = planner.records("components").get(None)
    sources = record.statistics.get("sources", {}) if record else {}
    allowed = planner.settings.get("dedup.max_loss")
    return [
        f"source {source}: {loss['removed']:,} of {loss['documents']:,} documents are duplicates of others"
        for source, loss in sources.items()
        if loss["documents"] < MIN_JUDGED and loss["removed"] > allowed * loss["documents"]
    ]


class _Runner:
    """Starts Dagster runs. Made only when there is something to run: importing Dagster takes seconds."""

    def __init__(self, corpus: Corpus, report: Report, progress: Progress, instance: dg.DagsterInstance | None) -> None:
        from corpus_assets.dagster_home import process_tags, project_instance
        from corpus_assets.definitions import assemble
        from corpus_assets.stage import asset_key

        self._corpus = corpus
        self._report = report
        self._progress = progress
        self._asset_key = asset_key
        self._instance = instance or project_instance(corpus.folder)
        self._parts = assemble(corpus, seen=self._seen)
        self._job = self._parts.job()
        self._tags = {"corpus/driver": "build", **process_tags()}

    def _seen(self, outcome: Outcome) -> None:
        self._progress.outcome(outcome)
        if outcome.error is not None:
            self._report.failed.append(f"{outcome.name}: {outcome.error}")
            return
        self._report.recomputed += 1
        self._report.by_asset[outcome.asset] = self._report.by_asset.get(outcome.asset, 0) + 1

    def run(self, stage: Stage, due: Sequence[Decision], blocked: Sequence[Decision]) -> None:
        """Materialize the given partitions of one stage, and none of those that wait for something."""
        keys = {decision.partition for decision in due}
        waiting = {decision.partition for decision in blocked if decision.partition is not None}
        if stage.partitioning is Partitioning.NONE:
            self._materialize(stage, {})
            return
        order = self._order(stage)
        for start, end in ranges([key for key in order if key in keys], order, MAX_RUNS_PER_STAGE, waiting):
            self._materialize(stage, {RANGE_START: start, RANGE_END: end})

    def _order(self, stage: Stage) -> list[str]:
        """Partition keys in the order in which Dagster cuts ranges."""
        from partitions.definitions import shard_set

        if stage.partitioning is Partitioning.SHARD:
            self._parts.register(self._instance)
            return list(self._instance.get_dynamic_partitions(shard_set(stage.source)))
        return [key for key in self._corpus.planner().partitions(stage) if key is not None]

    def _materialize(self, stage: Stage, tags: dict[str, str]) -> None:
        known = len(self._report.failed)
        result = self._job.execute_in_process(
            asset_selection=[self._asset_key(stage.name)],
            tags={**tags, **self._tags},
            instance=self._instance,
            run_config=_QUIET,
            raise_on_error=False,
        )
        if not result.success and len(self._report.failed) == known:
            self._note_crash(stage, result)

    def _note_crash(self, stage: Stage, result: dg.ExecuteInProcessResult) -> None:
        """A step that failed for another reason than a partition's own error must not pass unseen."""
        for event in result.filter_events(lambda event: event.is_step_failure):
            error = event.step_failure_data.error
            if error and error.cls_name == "DagsterExecutionInterruptedError":
                raise KeyboardInterrupt
            self._report.failed.append(f"{stage.name}: {error.message.strip() if error else 'step failed'}")

    def check(self, names: Iterable[str]) -> None:
        """Run the asset checks of these assets."""
        keys = [self._asset_key(name) for name in names]
        chosen = [check for check in self._parts.checks if any(k.asset_key in keys for k in check.check_keys)]
        if not chosen:
            return
        result = self._parts.check_job(chosen).execute_in_process(
            tags=self._tags,
            instance=self._instance,
            run_config=_QUIET,
            raise_on_error=False,
        )
        for evaluation in result.get_asset_check_evaluations():
            if not evaluation.passed:
                name = f"{evaluation.asset_key.to_user_string()}: check {evaluation.check_name}"
                self._report.failed_checks.append(f"{name}: {evaluation.description or 'failed'}")


RANGE_START = "dagster/asset_partition_range_start"
RANGE_END = "dagster/asset_partition_range_end"
_QUIET: dict[str, Any] = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def ranges(
    chosen: Sequence[str], order: Sequence[str], most: int, never: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Contiguous ranges of `order` that cover `chosen`, at most `most` of them; the smallest gaps are bridged.

    A Dagster run takes one range of partitions, not a set; fresh partitions inside a range are left alone. Keys in
    `never` lie in no range, however many ranges that makes.
    """
    wanted, walls = set(chosen), set(never)
    places = [place for place, key in enumerate(order) if key in wanted]
    gaps = [i for i in range(1, len(places)) if places[i] - places[i - 1] > 1]
    must = {i for i in gaps if walls.intersection(order[places[i - 1] + 1 : places[i]])}
    widest = sorted(set(gaps) - must, key=lambda i: (places[i - 1] - places[i], i))
    cuts = sorted([*must, *widest[: max(0, most - 1 - len(must))]])
    starts, ends = [0, *cuts], [*cuts, len(places)]
    return [(order[places[a]], order[places[b - 1]]) for a, b in zip(starts, ends, strict=True) if b > a]


def _label(decision: Decision) -> str:
    return decision.asset if decision.partition is None else f"{decision.asset}/{decision.partition}"
