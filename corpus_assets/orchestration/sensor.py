"""The sensor, which launches one run for all that is not fresh."""

import os
import time
from collections.abc import Iterator, Sequence
from datetime import datetime

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.corpus.corpus import Corpus
from corpus_assets.corpus.current import Current
from corpus_assets.orchestration.building.runner import MAX_WHY, WHY_TAG
from corpus_assets.orchestration.freshness.checks import tell
from corpus_assets.orchestration.freshness.failures import Failure, any_failure, failures
from corpus_assets.orchestration.freshness.state import freshness, unknown
from corpus_assets.orchestration.instance.instance import close_abandoned_runs
from corpus_assets.orchestration.verifying import NAME as VERIFYING
from partitions.shards import register_shards
from resources.errors import ConfigError, CorpusError
from resources.hashing import content_digest
from resources.ledger.ledger import partition_name
from resources.planning.planner import Decision, Planner, Status
from resources.storage.ownership import require_owner
from resources.system_errors import error_words

RUN_KEY_TAG = "dagster/run_key"
"""Dagster tags the run of a run request with its key (https://docs.dagster.io/api/dagster/schedules-sensors)."""
INTERVAL_VARIABLE = "CORPUS_SENSOR_SECONDS"
INTERVAL_SECONDS = 120
RETRY_SECONDS = 3600
MOST_ASKED_FOR = 100
"""Partitions of an asset whose last event is looked for."""
_AGAIN = "it is tried again when something changes, or after an hour"


def next_request(planner: Planner, instance: dg.DagsterInstance, now: float) -> dg.RunRequest | dg.SkipReason:
    """Returns the run that builds all that is not fresh; or, if nothing can start or would only fail again, why not.

    A partition that failed and would be made of the same again is no reason for a run within `RETRY_SECONDS`; a run
    that has another reason tries it too. The key of a run holds the state of what can start, and the hour.

    now: seconds since 1970.
    """
    plan = planner.plan()
    ready = [one for one in plan.decisions if one.status is not Status.FRESH and not one.blocked and not one.held_back]
    if not ready:
        counts = ", ".join(f"{count} {status}" for status, count in plan.counts().items())
        held = next((f"; {one.held_back}" for one in plan.decisions if one.held_back), "")
        return dg.SkipReason(f"nothing can start: {counts}{held}")
    failed = {(one.asset, one.partition): one for one in _failed(planner, now)}
    due = [one for one in ready if (one.asset, one.partition) not in failed]
    if not due:
        first = next(iter(failed.values()))
        what = f"{partition_name(first.asset, first.partition)}: {first.error}{_and_more(len(failed) - 1)}"
        return dg.SkipReason(f"what can start has failed: {what}; {_AGAIN}")
    others = sum(one.status is not Status.FRESH for one in plan.decisions) - 1
    why = f"{due[0].name}: {due[0].reason}"[: MAX_WHY - len(_and_more(others))] + _and_more(others)
    return dg.RunRequest(run_key=_run_key(planner, instance, due, now), tags={WHY_TAG: why})


def _and_more(others: int) -> str:
    return f" and {others} more" if others else ""


def _failed(planner: Planner, now: float) -> Iterator[Failure]:
    """Yields the failures of the last `RETRY_SECONDS` that still hold."""
    for stage in planner.graph if any_failure(planner.storage) else ():
        for failure in failures(planner, stage).values():
            if now - datetime.fromisoformat(failure.when).timestamp() < RETRY_SECONDS:
                yield failure


def _run_key(planner: Planner, instance: dg.DagsterInstance, due: Sequence[Decision], now: float) -> str:
    """Returns a key that changes with the partitions: why they are not fresh, their records, inputs and raw files.

    A partition without a record may have had one since the run that was launched in the same state: its last event
    tells.
    """
    shards = planner.listing.by_key()
    state: list[str] = [str(int(now // RETRY_SECONDS)), *_last_events(planner, instance, due)]
    for decision in due:
        record = planner.records(decision.asset).get(decision.partition)
        shard = shards.get(decision.partition or "")
        file = f"{shard.bytes} {shard.modified}" if shard else ""
        inputs = sorted(planner.inputs(planner.graph[decision.asset], decision.partition).items())
        state.append(f"{decision.name} {decision.reason} {record and record.created} {file} {inputs}")
    return content_digest("\n".join(state).encode())


def _last_events(planner: Planner, instance: dg.DagsterInstance, due: Sequence[Decision]) -> Iterator[str]:
    """Yields each asset of partitions without a record, with the number of the last event that one of them was made."""
    without: dict[str, list[str]] = {}
    for decision in due:
        if decision.partition not in planner.records(decision.asset):
            without.setdefault(decision.asset, []).extend([decision.partition] if decision.partition else [])
    for asset, keys in without.items():
        wanted = dg.AssetRecordsFilter(asset_key=asset_key(asset), asset_partitions=keys[:MOST_ASKED_FOR] or None)
        yield from (f"{asset} {found.storage_id}" for found in instance.fetch_materializations(wanted, limit=1).records)


def _launched(instance: dg.DagsterInstance, key: str) -> dg.DagsterRun | None:
    """Returns the run that was launched with a key, if one was: Dagster makes no other of that key."""
    launched = [status for status in dg.DagsterRunStatus if status is not dg.DagsterRunStatus.NOT_STARTED]
    filters = dg.RunsFilter(tags={RUN_KEY_TAG: key}, statuses=launched)
    return next(iter(instance.get_runs(filters, limit=1)), None)


def _planner(current: Current, instance: dg.DagsterInstance) -> Planner:
    """Returns a planner for the configuration as it is now: a run that is launched reads it too.

    If none can be made, for example because a folder is gone, no asset stays marked as fresh. The same holds for the
    store of another corpus, in which no run could build.
    """
    try:
        corpus = current.now()
        require_owner(corpus.storage, corpus.claimant)
        return corpus.planner()
    except (CorpusError, OSError) as error:
        known = current.corpus
        tell(known, instance, {stage.name: unknown(error_words(error)) for stage in known.graph})
        raise


def interval() -> int:
    """Returns the seconds between two ticks: those of the environment variable, or the default.

    `ConfigError` for what is no whole number from 1 on.
    """
    given = os.environ.get(INTERVAL_VARIABLE) or str(INTERVAL_SECONDS)
    if not (given.isascii() and given.isdigit() and int(given)):
        raise ConfigError(f"${INTERVAL_VARIABLE}: received {given!r}; valid: seconds between two ticks, from 1 on")
    return int(given)


_ACTIVE = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def corpus_sensor(corpus: Corpus, job: dg.JobDefinition) -> dg.SensorDefinition:
    """Returns the sensor, which makes a plan every two minutes or so; it is off until switched on.

    job: builds all that is not fresh.
    """
    current = Current(corpus)

    @dg.sensor(
        name="build_what_is_not_fresh",
        job=job,
        minimum_interval_seconds=interval(),
        description="Launches one run that builds everything that is not fresh, as `corpus build` does, and brings the "
        "check `fresh` of all assets up to date. Waits while any run is active but one of `verify_corpus`. "
        "Tries a partition that failed again when something changed, or after an hour.",
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        close_abandoned_runs(context.instance)
        runs = context.instance.get_runs(dg.RunsFilter(statuses=_ACTIVE))
        active = [run for run in runs if run.job_name != VERIFYING]
        if active:
            names = ", ".join(run.run_id[:8] for run in active[:3])
            return dg.SkipReason(f"runs are active ({names}); the next plan is made when they are done")
        planner = _planner(current, context.instance)
        register_shards(planner, context.instance)
        tell(current.corpus, context.instance, freshness(planner))
        found = next_request(planner, context.instance, time.time())
        if isinstance(found, dg.RunRequest) and (before := _launched(context.instance, found.run_key or "")):
            ended = f"run {before.run_id[:8]} ended as {before.status.value} and left it as it is"
            return dg.SkipReason(f"{found.tags[WHY_TAG]}: {ended}; {_AGAIN}")
        return found

    return sensor
