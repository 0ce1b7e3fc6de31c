"""Computes and commits one partition, in a worker process and without Dagster."""

import platform
import resource
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
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
)
from resources.kernels.jit import compile_seconds
from resources.ledger.ledger import Ledger, Record, lease_name, recipe_digest, record_path
from resources.ledger.records import with_set
from resources.processes.long_documents import job_begins, job_ends
from resources.stage.declaration import Input
from resources.stage.jobs.digests_read import digests_read
from resources.stage.jobs.inputs import forget_inputs, inputs_of
from resources.stage.jobs.job import Job, Outcome
from resources.stage.jobs.making_way import make_way
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions
from resources.stage.task import Given, Task
from resources.storage.interface import Entry, Storage
from resources.storage.leases import Held, Lease
from resources.storage.owner_file import OWNER
from resources.system_errors import advice, error_words, has_place
from resources.version import VERSION

_TRIES = 8


@cache
def _ledger(storage: Storage) -> Ledger:
    """Returns the ledger of a store, one per worker, so that a worker reads the records of a fan-in only once."""
    return Ledger(storage)


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
        return Outcome(job.name, job.stage.name, job.partition, error=f"{error}{_if_gone(job.storage)}")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `sys.exit` in a stage of a user's own, or a panic of a library in Rust
        return Outcome(job.name, job.stage.name, job.partition, error=_unexpected(job, error))


def _tried(job: Job) -> Outcome:
    """Runs a job again, a few times, after it found a damaged local copy of a file, which is removed."""
    for _ in range(_TRIES - 1):
        with suppress(DamagedCopyError):
            return _leased(job)
    return _leased(job)


def _unexpected(job: Job, error: BaseException) -> str:
    """Returns an unexpected error in words; one that names no place gets the name of the job."""
    words = f"{type(error).__name__}: {error_words(error)} (in {_name(job.stage.compute)}"
    if isinstance(error, OSError) and not has_place(error):
        own = [shard.label for shard in job.shards if shard.key == job.partition]
        reads = own or [edge.asset for edge in job.stage.inputs]
        words += f", which reads {', '.join(reads) or 'no other asset'} and writes to {job.storage.place}"
    return f"{words}){advice(error, job.storage.place)}{_if_gone(job.storage)}"


def _if_gone(storage: Storage) -> str:
    """Returns in words that the store was removed during the build; nothing if it exists or does not answer."""
    with suppress(OSError, CorpusError):
        if storage.stat(OWNER) is None:
            return (
                f"; the store was removed or emptied while it was built on: {storage.place} has no {OWNER} any more; "
                "a new build makes everything again"
            )
    return ""


def _name(function: Any) -> str:
    return str(getattr(function, "func", function).__name__)


def _leased(job: Job) -> Outcome:
    """Computes a partition under its lease, unless another builder has it or has committed the partition meanwhile.

    If the lease is lost, the partition is examined once more.
    """
    lease = job.storage.lease(lease_name(job.stage.name, job.partition), job.builder, job.expired)
    if isinstance(lease, Held):
        return Outcome(job.name, job.stage.name, job.partition, held=lease)
    try:
        before = job.storage.stat(record_path(job.stage.name, job.partition))
        found = _committed_meanwhile(job, before)
        if found is None:
            record, entry, gave_way = _compute(job, lease, before)
            committed = Outcome(job.name, job.stage.name, job.partition, record=record, entry=entry)
            return replace(committed, gave_way=tuple(gave_way))
        return Outcome(job.name, job.stage.name, job.partition, record=found, entry=before, elsewhere=True)
    except LeaseLostError as error:
        gone = _if_gone(job.storage)
        held = None if gone else Held("another builder")
        return Outcome(job.name, job.stage.name, job.partition, error=f"{error}{gone}", held=held)
    finally:
        lease.release()


def _committed_meanwhile(job: Job, entry: Entry | None) -> Record | None:
    """Returns the record that another builder has committed since this one last looked, if it can be read."""
    if entry is None or entry.version == job.known:
        return None
    with suppress(LedgerError):
        return _ledger(job.storage).read(job.stage.name, job.partition)
    return None


def _compute(job: Job, lease: Lease, before: Entry | None) -> tuple[Record, Entry | None, list[Record]]:
    """Computes and commits a partition, replacing its record.

    Returns the new record, its entry, and the removed records of other partitions whose paths it took.
    """
    started, cpu, compiled_before = time.monotonic(), _cpu_seconds(), compile_seconds()
    ledger = _ledger(job.storage)
    inputs = inputs_of(ledger, job)
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
            compression=job.compression,
        )
    )
    job_begins(job.memory)
    try:
        read = _computed(job, task, [partition for found in inputs.values() for partition in found])
        task.count(seconds=round(time.monotonic() - started, 3), cpu_seconds=round(_cpu_seconds() - cpu, 3))
        if compiled := round(compile_seconds() - compiled_before, 3):
            task.count(compile_seconds=compiled)
        record = _record(job, task, {**digests, **read}, None if read else recipe, _made(inputs))
        task.prepare()
        lease.require()
        version, gave_way = before and before.version, list[Record]()
        if task.replaces:
            if replaced := task.replaced():
                key = (job.stage.name, job.partition)
                gave_way = make_way(job.storage, job.look, key, replaced, ledger.known(*key))
            version = ledger.remove(job.stage.name, job.partition, version)
        task.publish()
        record = msgspec.structs.replace(record, files=[task.stored(file) for file in record.files])
        entry = ledger.replace(record, version)
    except BaseException:
        forget_inputs()
        raise
    finally:
        task.close()
        job_ends()
    return record, entry, gave_way


def _computed(job: Job, task: Task, inputs: list[Partition]) -> Mapping[str, str]:
    """Runs the stage's function; returns the digests it returns.

    Files that it did not read to the end are checked afterwards. If the function fails, that check comes first: damaged
    or misread content may cause any error.
    """
    try:
        found = job.stage.compute(task) or {}
    except DamagedCopyError:
        raise
    except Exception as error:
        if not isinstance(error, DamagedFileError):
            _require_sound(inputs)
        task.require_read_right()
        raise
    _require_sound(inputs)
    task.require_read_right()
    return found


def _require_sound(inputs: list[Partition]) -> None:
    for partition in inputs:
        partition.require_sound()


def _recipe(job: Job, inputs: Mapping[str, str]) -> str:
    return recipe_digest(job.stage.name, job.stage.code_version, job.parameters, inputs)


def _made(inputs: Mapping[Input, Partitions]) -> str:
    """Returns the time for a record: now, or the time of the newest input if the clock was set back since.

    So no partition seems older than its inputs.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return max([now, *(found.once(_newest) for found in inputs.values())])


def _newest(partitions: Partitions) -> str:
    return max((partition.record.created for partition in partitions), default="")


def _record(job: Job, task: Task, inputs: dict[str, str], recipe: str | None, created: str) -> Record:
    """Returns the record of a computed partition. recipe: None if it must be computed again, from all inputs."""
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
        created=created,
        versions=with_set(_versions(), job.changes),
    )
    return record.packed()


@cache
def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), "corpus-assets": VERSION}


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
