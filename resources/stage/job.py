"""Computes and commits one partition, in a worker process and without Dagster."""

import platform
import resource
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from tempfile import gettempdir
from threading import local
from typing import Any

import msgspec

from resources.errors import (
    BuilderLostError,
    CorpusError,
    DamagedCopyError,
    DamagedFileError,
    JobTimeoutError,
    LeaseLostError,
    LedgerError,
    is_full,
)
from resources.jit import compile_seconds
from resources.ledger import (
    Ledger,
    Record,
    lease_name,
    partition_name,
    recipe_digest,
    record_path,
)
from resources.shards import Shard
from resources.stage.declaration import Input, Stage
from resources.stage.digests_read import digests_read
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Given, Task
from resources.storage.holders import Process, this_process
from resources.storage.interface import Entry, Storage
from resources.storage.leases import Held, Lease

_TRIES = 8


@dataclass(frozen=True)
class Job:
    """One partition to compute; small enough to send to a worker, on this machine or another.

    expected: the keys of each upstream asset that is read, in canonical order. states: a name for the records that each
    of these has now; while it stays the same, a worker looks at them once. memory: bytes the worker may use.
    local_files: contents of small files that the configuration names. run_options: options that do not change the
    content. builder: who builds. known: version of the partition's record, as the builder knows it. expired: token of
    a lease that may be taken over (see `Held`).
    """

    stage: Stage
    partition: str | None
    shards: tuple[Shard, ...]
    parameters: Mapping[str, Any]
    expected: Mapping[str, tuple[str | None, ...]]
    storage: Storage
    memory: int
    states: Mapping[str, str] = field(default_factory=dict)
    local_files: Mapping[str, bytes] = field(default_factory=dict)
    run_options: Mapping[str, Any] = field(default_factory=dict)
    builder: Process = field(default_factory=this_process)
    known: str | None = None
    expired: str = ""

    @property
    def name(self) -> str:
        """The partition as messages name it."""
        return partition_name(self.stage.name, self.partition)


@dataclass(frozen=True)
class Outcome:
    """The result of one job: the committed record, the error in words, or who else makes the partition now.

    damaged: asset and key of the partition whose damaged file is the reason of the error. entry: of the record's file.
    elsewhere: whether another builder committed the record since the plan; then nobody knows yet whether it is fresh.
    held: the lease of another builder; with an error if it was taken over while this one computed the partition. lost:
    whether others thought this builder dead; then no job of it can do anything.
    """

    name: str
    asset: str
    partition: str | None
    record: Record | None = None
    error: str | None = None
    damaged: tuple[str, str | None] | None = None
    entry: Entry | None = None
    elsewhere: bool = False
    held: Held | None = None
    lost: bool = False


@cache
def _ledger(storage: Storage) -> Ledger:
    """Returns the ledger of a store, one per worker, so that a worker reads the records of a fan-in only once."""
    return Ledger(storage)


class _Handles(local):
    """The handles that the last job of this thread was given, by asset; the next one may read the same partitions.

    A job of each band reads all shards, and making the handles would cost it as much as reading them.
    """

    def __init__(self) -> None:
        self.given: dict[str, tuple[object, Partitions]] = {}


_HANDLES = _Handles()


def run_job(job: Job) -> Outcome:
    """Computes and commits one partition; returns an error as an outcome, and never raises one."""
    try:
        return _tried(job)
    except DamagedFileError as error:
        damaged = (error.asset, error.partition)
        return Outcome(job.name, job.stage.name, job.partition, error=str(error), damaged=damaged)
    except BuilderLostError as error:
        return Outcome(job.name, job.stage.name, job.partition, error=str(error), lost=True)
    except (CorpusError, JobTimeoutError) as error:
        return Outcome(job.name, job.stage.name, job.partition, error=str(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `sys.exit` in a stage of a user's own, or a panic of a library in Rust
        words = f"{type(error).__name__}: {error} (in {_name(job.stage.compute)})"
        return Outcome(job.name, job.stage.name, job.partition, error=words + _advice(error, job.storage))


def _tried(job: Job) -> Outcome:
    """Runs a job again, a few times, after it met a damaged copy of a file, which is removed then."""
    for _ in range(_TRIES - 1):
        with suppress(DamagedCopyError):
            return _leased(job)
    return _leased(job)


def _advice(error: BaseException, storage: Storage) -> str:
    if not is_full(error):
        return ""
    places = f"{storage.place} and {gettempdir()}"
    return f"; free space where files are written ({places}) and build again: what was committed is kept"


def _name(function: Any) -> str:
    return str(getattr(function, "func", function).__name__)


def _leased(job: Job) -> Outcome:
    """Computes a partition under its lease, unless another builder has it or has committed the partition meanwhile.

    If the lease is lost, the partition is looked at once more.
    """
    lease = job.storage.lease(lease_name(job.stage.name, job.partition), job.builder, job.expired)
    if isinstance(lease, Held):
        return Outcome(job.name, job.stage.name, job.partition, held=lease)
    try:
        before = job.storage.stat(record_path(job.stage.name, job.partition))
        found = _committed_meanwhile(job, before)
        if found is None:
            record, entry = _compute(job, lease, before)
            return Outcome(job.name, job.stage.name, job.partition, record=record, entry=entry)
        return Outcome(job.name, job.stage.name, job.partition, record=found, entry=before, elsewhere=True)
    except LeaseLostError as error:
        return Outcome(job.name, job.stage.name, job.partition, error=str(error), held=Held(str(error)))
    finally:
        lease.release()


def _committed_meanwhile(job: Job, entry: Entry | None) -> Record | None:
    """Returns the record that another builder has committed since this one last looked, if it can be read."""
    if entry is None or entry.version == job.known:
        return None
    with suppress(LedgerError):
        return _ledger(job.storage).read(job.stage.name, job.partition)
    return None


def _compute(job: Job, lease: Lease, before: Entry | None) -> tuple[Record, Entry | None]:
    """Computes and commits a partition, in the place of the record that it has before."""
    started, cpu, compiled_before = time.monotonic(), _cpu_seconds(), compile_seconds()
    ledger = _ledger(job.storage)
    inputs = _inputs(ledger, job)
    digests = digests_read(inputs, job.partition, job.name)
    recipe = _recipe(job, digests)
    task = Task(
        Given(
            asset=job.stage.name,
            key=job.partition,
            storage=job.storage,
            inputs={name: found for edge, found in inputs.items() for name in edge.names},
            shards=job.shards,
            parameters=job.parameters,
            local_files=job.local_files,
            run_options=job.run_options,
            memory=job.memory,
            recipe=recipe,
        )
    )
    try:
        read = _computed(job, task, [partition for found in inputs.values() for partition in found])
        task.count(seconds=round(time.monotonic() - started, 3), cpu_seconds=round(_cpu_seconds() - cpu, 3))
        if compiled := round(compile_seconds() - compiled_before, 3):
            task.count(compile_seconds=compiled)
        record = _record(job, task, {**digests, **read}, None if read else recipe)
        task.prepare()
        lease.require()
        version = before and before.version
        if task.replaces:
            version = ledger.remove(job.stage.name, job.partition, version)
        task.publish()
        record = msgspec.structs.replace(record, files=[task.stored(file) for file in record.files])
        entry = ledger.replace(record, version)
    except BaseException:
        _HANDLES.given = {}  # They know of files that were begun, which the next job would answer for.
        raise
    finally:
        task.discard()
    return record, entry


def _computed(job: Job, task: Task, inputs: list[Partition]) -> Mapping[str, str]:
    """Runs the stage's function; returns the digests it returns.

    What it did not read to the end is checked after it. If it fails, that comes first: content that is damaged may
    cause any error.
    """
    try:
        found = job.stage.compute(task) or {}
    except (DamagedCopyError, DamagedFileError):
        raise
    except Exception:
        _require_sound(inputs)
        raise
    _require_sound(inputs)
    return found


def _require_sound(inputs: list[Partition]) -> None:
    for partition in inputs:
        partition.require_sound()


def _inputs(ledger: Ledger, job: Job) -> dict[Input, Partitions]:
    """Returns the upstream partitions of each edge; `LedgerError` if one does not exist."""
    before, _HANDLES.given = _HANDLES.given, {}
    shards = {shard.key: shard for shard in job.shards}
    found = {}
    for edge in job.stage.inputs:
        if edge.asset not in job.states or _is_one(job, edge) or shards:
            found[edge] = _partitions(ledger, job, edge, shards)
            continue
        state = (job.storage, job.states[edge.asset], len(job.expected[edge.asset]))
        known, partitions = before.get(edge.asset, (None, Partitions()))
        if known != state:
            partitions = _partitions(ledger, job, edge, shards)
        _HANDLES.given[edge.asset] = state, partitions
        found[edge] = partitions
    return found


def _is_one(job: Job, edge: Input) -> bool:
    """Returns whether an edge reads the upstream partition of the job's own key alone."""
    return job.partition is not None and job.expected.get(edge.asset, (job.partition,)) == (job.partition,)


def _partitions(ledger: Ledger, job: Job, edge: Input, shards: Mapping[str, Shard]) -> Partitions:
    """Returns the upstream partitions of an edge; `LedgerError` if one does not exist. shards: of the job, by key."""
    keys = job.expected.get(edge.asset, (job.partition,))
    records: Mapping[str | None, Record | None]
    if _is_one(job, edge):
        records = {job.partition: ledger.read(edge.asset, job.partition)}
    else:
        records = ledger.records(edge.asset, job.states.get(edge.asset))
    found = Partitions()
    for key in keys:
        record = records.get(key)
        if record is None:
            missing = partition_name(edge.asset, key)
            raise LedgerError(f"{job.name} reads {missing}, which does not exist; build {edge.asset} first")
        found.append(Partition(job.storage, record, shards.get(key or "")))
    return found


def _recipe(job: Job, inputs: Mapping[str, str]) -> str:
    return recipe_digest(job.stage.name, job.stage.code_version, job.parameters, inputs)


def _record(job: Job, task: Task, inputs: dict[str, str], recipe: str | None) -> Record:
    """Returns the record of a computed partition. recipe: None if it must be made anew, from all inputs."""
    record = Record(
        asset=job.stage.name,
        partition=job.partition,
        recipe=recipe or _recipe(job, inputs),
        digest=task.content_digest(),
        inputs=inputs,
        parameters=dict(job.parameters),
        code_version=job.stage.code_version,
        files=task.files,
        segments=task.segments,
        counters=task.counters,
        seen=task.seen,
        statistics=task.statistics,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
    )
    return record.packed()


@cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "corpus-assets": version("corpus-assets")}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
