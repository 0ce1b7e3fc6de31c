"""Computes and commits one partition. Runs in a worker process and knows nothing of Dagster."""

import platform
import resource
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from resources.errors import CorpusError, LedgerError
from resources.graph import Input, Reads, Stage
from resources.ledger import FileRecord, Ledger, Record, recipe_digest
from resources.sources import Shard
from resources.storage import Storage
from resources.task import Part, Task


@dataclass(frozen=True)
class Job:
    """One partition to compute; small enough to send to a worker.

    `expected` are the keys of each upstream asset that is read whole, in canonical order.
    """

    stage: Stage
    partition: str | None
    shards: tuple[Shard, ...]
    parameters: Mapping[str, Any]
    expected: Mapping[str, tuple[str | None, ...]]
    storage: Storage
    memory: int
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The partition as messages name it."""
        return self.stage.name if self.partition is None else f"{self.stage.name}/{self.partition}"


@dataclass(frozen=True)
class Outcome:
    """What became of one job: the committed record, or the error in words."""

    name: str
    asset: str
    partition: str | None
    record: Record | None = None
    error: str | None = None


@cache
def _ledger(storage: Storage) -> Ledger:
    """One ledger per worker and store, so that records of a fan-in are read once."""
    return Ledger(storage)


def run_job(job: Job) -> Outcome:
    """Compute and commit one partition; a fault of the data comes back as an outcome, never as a crash."""
    try:
        return Outcome(job.name, job.stage.name, job.partition, record=_compute(job))
    except CorpusError as error:
        return Outcome(job.name, job.stage.name, job.partition, error=str(error))
    except Exception as error:
        where = f"{type(error).__name__}: {error}"
        return Outcome(job.name, job.stage.name, job.partition, error=f"{where} (in {_name(job.stage.compute)})")


def _name(function: Any) -> str:
    return str(getattr(function, "func", function).__name__)


def _compute(job: Job) -> Record:
    started, cpu = time.monotonic(), _cpu_seconds()
    ledger = _ledger(job.storage)
    inputs: dict[str, str] = {}
    parts: dict[str, list[Part]] = {}
    for edge in job.stage.inputs:
        parts[edge.asset] = _parts(ledger, job, edge)
        if edge.tracked:
            inputs |= _digests(job, edge, parts[edge.asset])
    task = Task(
        job.stage,
        job.partition,
        shards=job.shards,
        parameters=job.parameters,
        places=job.places,
        inputs=parts,
        storage=job.storage,
        memory=job.memory,
        recipe=recipe_digest(job.stage.name, job.stage.code_version, dict(job.parameters), inputs),
    )
    try:
        inputs |= job.stage.compute(task) or {}
        task.count(seconds=round(time.monotonic() - started, 3), cpu_seconds=round(_cpu_seconds() - cpu, 3))
        record = _record(job, task, inputs)
        ledger.forget(job.stage.name, job.partition)
        task.pending.publish()
        record = _with_sizes(record, job.storage)
        ledger.write(record)
    finally:
        task.pending.discard()
    return record


def _parts(ledger: Ledger, job: Job, edge: Input) -> list[Part]:
    by_key = {shard.key: shard for shard in job.shards}
    if edge.mapping is Reads.SAME:
        keys: tuple[str | None, ...] = job.expected.get(edge.asset, (job.partition,))
        records = {key: ledger.read(edge.asset, key) for key in keys}
    else:
        keys = job.expected[edge.asset]
        records = dict(ledger.records(edge.asset))
    parts = []
    for key in keys:
        record = records.get(key)
        if record is None:
            raise LedgerError(f"{job.name} reads {edge.asset}/{key}, which is not there; build {edge.asset} first")
        parts.append(Part(job.storage, record, by_key.get(key or "")))
    return parts


def _digests(job: Job, edge: Input, parts: list[Part]) -> dict[str, str]:
    found = {}
    for part in parts:
        name = edge.asset if part.partition is None else f"{edge.asset}/{part.partition}"
        found[name] = part.record.part_digest(edge.segment(job.partition))
    return found


def _record(job: Job, task: Task, inputs: Mapping[str, str]) -> Record:
    stage, parameters = job.stage, dict(job.parameters)
    return Record(
        asset=stage.name,
        partition=job.partition,
        recipe=recipe_digest(stage.name, stage.code_version, parameters, inputs),
        digest=task.content_digest(),
        inputs=dict(inputs),
        parameters=parameters,
        code_version=stage.code_version,
        files=task.files,
        segments=task.segments,
        statistics=task.statistics,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
    )


@cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "corpus-assets": version("corpus-assets")}


def _with_sizes(record: Record, storage: Storage) -> Record:
    """The record with the stored size of every file, known only after publishing."""
    files = []
    for file in record.files:
        entry = storage.stat(file.path)
        if entry is None:
            raise LedgerError(f"{file.path} vanished while it was being committed")
        files.append(FileRecord(file.path, entry.bytes, file.digest, file.rows))
    return Record(**{**{name: getattr(record, name) for name in record.__struct_fields__}, "files": files})


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
