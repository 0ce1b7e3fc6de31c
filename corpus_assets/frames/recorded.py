"""Frames of commit records and of the plan: a row per partition, per reason to drop rows, per bin of scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from corpus_assets.frames.columns import COUNT, NUMBER, TEXT, TIME, Columns, frame
from corpus_assets.frames.look import Look
from corpus_assets.orchestration.freshness.failures import any_failure, failures
from corpus_assets.report.records import dropped as dropped_rows
from corpus_assets.report.records import source_of
from resources.documents.score_histograms import added, edges
from resources.planning.planner import Status
from resources.stage.declaration import Stage
from resources.stage.partition import Partition

if TYPE_CHECKING:
    from pandas import DataFrame

ORPHAN = "orphan"
_HISTOGRAMS = "histograms"
Row = tuple[Any, ...]


def records(look: Look) -> DataFrame:
    """Returns what the commit records say: see `Frames.records`."""
    columns: Columns = {
        "asset": look.assets,
        "group": list(dict.fromkeys(stage.group for stage in look.stages)),
        "partition": TEXT,
        "source": look.sources,
        "rows_in": COUNT,
        "rows_out": COUNT,
        "dropped": COUNT,
        "text_bytes": COUNT,
        "files": COUNT,
        "stored_bytes": COUNT,
        "seconds": NUMBER,
        "cpu_seconds": NUMBER,
        "created": TIME,
        "code_version": TEXT,
        "digest": TEXT,
    }
    return frame(columns, (_record(stage, one) for stage in look.stages for one in look.partitions(stage)))


def _record(stage: Stage, partition: Partition) -> Row:
    record, numbers = partition.record, partition.record.statistics
    return (
        stage.name,
        stage.group,
        record.partition,
        source_of(partition),
        numbers.get("rows_in"),
        numbers.get("rows_out"),
        sum(numbers["dropped"].values()) if "dropped" in numbers else None,
        numbers.get("text_bytes"),
        len(record.files),
        sum(file.bytes for file in record.files),
        numbers.get("seconds"),
        numbers.get("cpu_seconds"),
        record.created or None,
        record.code_version,
        record.digest,
    )


def plan(look: Look) -> DataFrame:
    """Returns the status of every partition: see `Frames.plan`."""
    columns: Columns = {
        "asset": look.assets,
        "partition": TEXT,
        "source": look.sources,
        "status": [*map(str, Status), ORPHAN],
        "reason": TEXT,
        "waits_for": TEXT,
        "failure": TEXT,
    }
    return frame(columns, _decisions(look))


def _decisions(look: Look) -> Iterator[Row]:
    planner = look.planner
    found = planner.plan()
    failed = any_failure(look.corpus.storage)
    for stage in look.stages:
        errors = {key: one.error for key, one in failures(planner, stage).items()} if failed else {}
        for key, one in planner.decisions(stage).items():
            shard = planner.shard(key)
            source, waits_for = shard and shard.source, one.held_back or one.blocked
            yield stage.name, key, source, str(one.status), one.reason, waits_for, errors.get(key, "")
    for asset, key in found.orphans:
        yield asset, key, None, ORPHAN, "its raw file, band, chunk or asset is gone", "", ""


def dropped(look: Look) -> DataFrame:
    """Returns the rows that were dropped, by reason: see `Frames.dropped`."""
    columns: Columns = {
        "asset": look.assets,
        "partition": TEXT,
        "source": look.sources,
        "reason": TEXT,
        "rows": COUNT,
        "unit": list(dict.fromkeys(stage.unit_in for stage in look.stages)),
    }
    return frame(columns, _drops(look))


def _drops(look: Look) -> Iterator[Row]:
    for stage in look.stages:
        for partition in look.partitions(stage):
            for source, reason, rows in _drops_of(partition):
                yield stage.name, partition.key, source, reason, rows, stage.unit_in


def _drops_of(partition: Partition) -> Iterator[Row]:
    for reason, (count, counted) in dropped_rows([partition]).items():
        by_source = counted or {}
        not_counted = count - sum(by_source.values())
        for source, rows in (*by_source.items(), (None, not_counted)):
            if rows:
                yield source, reason, rows


def histograms(look: Look) -> DataFrame:
    """Returns how many documents have which score: see `Frames.histograms`."""
    columns: Columns = {"asset": look.assets, "key": TEXT, "low": NUMBER, "high": NUMBER, "documents": COUNT}
    return frame(columns, (row for stage in look.stages for row in _bins(look, stage)))


def _bins(look: Look, stage: Stage) -> Iterator[Row]:
    numbers = (partition.record.statistics for partition in look.partitions(stage))
    counted = ((one.get("rows_out", 0), one[_HISTOGRAMS]) for one in numbers if _HISTOGRAMS in one)
    for key, one in added(counted).items():
        ends = edges(one)
        for low, high, documents in zip(ends[:-1], ends[1:], one["counts"], strict=True):
            yield stage.name, key, low, high, documents
        yield stage.name, key, None, None, one["none"]
