"""The sensor, which launches runs for partitions that are not fresh and whose inputs are."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from uuid import uuid4

import dagster as dg
from dagster._core.storage.tags import RUN_KEY_TAG

from corpus_assets.checking import asset_key
from corpus_assets.corpus import Corpus
from corpus_assets.orchestration.fresh_checks import tell
from corpus_assets.orchestration.freshness import freshness
from corpus_assets.orchestration.instance import close_abandoned_runs
from corpus_assets.orchestration.ranges import RANGE_END, RANGE_START, ranges
from corpus_assets.orchestration.runner import BUILD_TAG, MAX_WHY, WHY_TAG
from partitions.definitions import shard_set_name
from partitions.shards import register_shards
from resources.hashing import content_digest
from resources.planning.planner import Decision, Planner, Status
from resources.stage.declaration import Partitioning, Stage

MAX_RUNS = 8
MAX_PARTITIONS = 500
INTERVAL_SECONDS = 120
RETRY_SECONDS = 3600


def next_requests(
    planner: Planner, shard_order: Callable[[str], Sequence[str]], now: float = 0
) -> Iterator[dg.RunRequest]:
    """Yields runs for all partitions that are not fresh and whose inputs are.

    Each run takes one range of partitions of one asset, at most `MAX_PARTITIONS` of an asset at a time. Its key holds
    the state of the partitions, so that a partition that failed is tried again when something changed, and otherwise
    once in `RETRY_SECONDS`.

    All of them have one build id, the tag `corpus/build`: they come from one plan.

    shard_order: partitions of a set of shards, by the set's name, as Dagster orders them. now: seconds since the epoch.
    """
    build = str(uuid4())
    for stage in planner.graph:
        decisions = planner.decisions(stage)
        ready = {key: d for key, d in decisions.items() if d.status is not Status.FRESH and not d.blocked}
        for keys, tags in _batches(stage, decisions, ready, shard_order):
            chosen = [ready[key] for key in keys]
            more = f" and {len(chosen) - 1} more" if len(chosen) > 1 else ""
            yield dg.RunRequest(
                run_key=_run_key(planner, chosen, now),
                asset_selection=[asset_key(stage.name)],
                tags={**tags, BUILD_TAG: build, WHY_TAG: f"{chosen[0].name}: {chosen[0].reason}{more}"[:MAX_WHY]},
            )


def _batches(
    stage: Stage,
    decisions: Mapping[str | None, Decision],
    ready: Mapping[str | None, Decision],
    shard_order: Callable[[str], Sequence[str]],
) -> Iterator[tuple[list[str | None], dict[str, str]]]:
    """Yields the ready partitions of a stage, cut into runs, each with the tags that give its range to Dagster."""
    if not ready:
        return
    if stage.partitioning is Partitioning.NONE:
        yield [None], {}
        return
    named = [key for key in decisions if key is not None]
    order = list(shard_order(shard_set_name(stage.shard_set))) if stage.partitioning is Partitioning.SHARD else named
    chosen = [key for key in order if key in ready][:MAX_PARTITIONS]
    waiting = [key for key in named if decisions[key].blocked]
    for start, end in ranges(chosen, order, MAX_RUNS, waiting):
        inside = order[order.index(start) : order.index(end) + 1]
        yield [key for key in inside if key in ready], {RANGE_START: start, RANGE_END: end}


def _run_key(planner: Planner, chosen: list[Decision], now: float) -> str:
    """Returns a key that changes with the partitions: why they are not fresh, their records, inputs and raw files."""
    shards = planner.listing.by_key()
    state: list[str] = [chosen[0].asset, str(int(now // RETRY_SECONDS))]
    for decision in chosen:
        record = planner.records(decision.asset).get(decision.partition)
        shard = shards.get(decision.partition or "")
        file = f"{shard.bytes} {shard.modified}" if shard else ""
        inputs = sorted(planner.inputs(planner.graph[decision.asset], decision.partition).items())
        state.append(f"{decision.partition} {decision.reason} {record and record.created} {file} {inputs}")
    return content_digest("\n".join(state).encode())


def _not_launched(instance: dg.DagsterInstance, requests: Iterable[dg.RunRequest]) -> Iterator[dg.RunRequest]:
    """Yields the requests of which Dagster will make runs: it passes over those whose key a launched run has.

    They would keep later ones from their turn, for as long as what failed stays as it is.
    """
    launched = [status for status in dg.DagsterRunStatus if status is not dg.DagsterRunStatus.NOT_STARTED]
    for request in requests:
        key = {RUN_KEY_TAG: request.run_key or ""}
        if not instance.get_runs_count(dg.RunsFilter(tags=key, statuses=launched)):
            yield request


_ACTIVE = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def corpus_sensor(corpus: Corpus) -> dg.SensorDefinition:
    """Returns the sensor, which makes a plan every two minutes; it is off until switched on."""

    @dg.sensor(
        name="build_what_is_not_fresh",
        asset_selection=dg.AssetSelection.all(),
        minimum_interval_seconds=INTERVAL_SECONDS,
        description="Launches runs for partitions that are not fresh and whose inputs are, stage after stage, and "
        "brings the check `fresh` of all assets up to date. "
        "Waits while any run is active. Tries a partition that failed again when something changed, or after an hour.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        close_abandoned_runs(context.instance)
        active = context.instance.get_runs(dg.RunsFilter(statuses=_ACTIVE), limit=3)
        if active:
            names = ", ".join(run.run_id[:8] for run in active)
            return dg.SkipReason(f"runs are active ({names}); the next plan is made when they are done")
        planner = corpus.planner()
        register_shards(planner, context.instance)
        tell(corpus, context.instance, freshness(planner))
        possible = next_requests(planner, context.instance.get_dynamic_partitions, time.time())
        requests = list(islice(_not_launched(context.instance, possible), MAX_RUNS))
        counts = ", ".join(f"{count} {status}" for status, count in planner.plan().counts().items())
        return requests or dg.SkipReason(f"nothing can start: {counts}")

    return sensor
