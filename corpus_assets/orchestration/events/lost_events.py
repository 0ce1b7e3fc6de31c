"""Commits by a build that did not report to this Dagster instance, or was killed before it did."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import dagster as dg

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.shown.provenance import DATA_VERSION
from resources.ledger.ledger import Record

DRIVER_TAG = "corpus/driver"
UNTOLD_TAG = ".dagster/corpus-untold"
_LATE = 60.0  # Most seconds between a commit and the time at which the driver notes it.
_PAGE = 1000


def killed_builds(instance: dg.DagsterInstance) -> Sequence[dg.RunRecord]:
    """Returns the runs of killed and interrupted builds whose last partitions are not reported yet."""
    return instance.get_run_records(dg.RunsFilter(tags={UNTOLD_TAG: "yes"}))


def mark(instance: dg.DagsterInstance, run: dg.DagsterRun, *, untold: bool) -> None:
    """Notes whether the last partitions of a killed or interrupted build are still to be reported."""
    instance.add_run_tags(run.run_id, {UNTOLD_TAG: "yes" if untold else "no"})


def told_until(instance: dg.DagsterInstance, killed: Sequence[dg.RunRecord]) -> float:
    """Returns up to when Dagster knows every commit, in seconds since 1970; 0 if it knows no build at all.

    killed: `killed_builds`. A build that ended has reported everything.
    """
    times = [_last_told(instance, found) - _LATE for found in killed]
    for newest in instance.get_run_records(dg.RunsFilter(tags={DRIVER_TAG: "build"}), limit=1):
        return min([*times, newest.end_time or _last_told(instance, newest) - _LATE])
    return 0.0


def announced_by(
    instance: dg.DagsterInstance, killed: Sequence[dg.RunRecord], assets: Iterable[str]
) -> Iterator[tuple[str, str | None]]:
    """Yields the partitions (asset, key) that killed builds have announced."""
    names = {asset_key(name): name for name in assets}
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
    for run in killed:
        for record in instance.get_records_for_run(run.dagster_run.run_id, of_type=kind).records:
            event = record.event_log_entry.dagster_event
            if event is not None and event.asset_key in names:
                yield names[event.asset_key], event.partition


def lost_records(instance: dg.DagsterInstance, since: float, records: Mapping[str, list[Record]]) -> Iterator[Record]:
    """Yields the records since then of which there is no event. records: of every asset."""
    for asset, found in records.items():
        candidates = [record for record in found if datetime.fromisoformat(record.created).timestamp() >= int(since)]
        if candidates:
            told = set(_told(instance, asset, since))
            yield from (record for record in candidates if (record.partition, record.digest) not in told)


def _last_told(instance: dg.DagsterInstance, run: dg.RunRecord) -> float:
    """Returns when the last partition was computed that a run has an event of; else when the run began."""
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    last = instance.get_records_for_run(run.dagster_run.run_id, of_type=kind, limit=1, ascending=False).records
    return last[0].event_log_entry.timestamp if last else run.create_timestamp.timestamp()


def _told(instance: dg.DagsterInstance, asset: str, since: float) -> Iterator[tuple[str | None, str]]:
    """Yields partition and content digest of every event of an asset since then."""
    wanted = dg.AssetRecordsFilter(asset_key=asset_key(asset), after_timestamp=since - 1)
    cursor: str | None = None
    while True:
        page = instance.fetch_materializations(wanted, limit=_PAGE, cursor=cursor)
        for record in page.records:
            yield record.partition_key, (record.event_log_entry.tags or {}).get(DATA_VERSION, "")
        if not page.has_more:
            return
        cursor = page.cursor
