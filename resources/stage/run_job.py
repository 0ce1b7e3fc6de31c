"""Computes and commits one partition, in a worker process and without Dagster."""

import platform
import resource
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from tempfile import gettempdir
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
from resources.ledger import Ledger, Record, lease_name, recipe_digest, record_path
from resources.stage.digests_read import digests_read
from resources.stage.job import Job, Outcome
from resources.stage.job_inputs import forget_inputs, inputs_of
from resources.stage.making_way import make_way
from resources.stage.partition import Partition
from resources.stage.task import Given, Task
from resources.storage.interface import Entry, Storage
from resources.storage.leases import Held, Lease

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
        return Outcome(job.name, job.stage.name, job.partition, error=str(error), held=Held("another builder"))
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
            if replaced := task.replaced():
                key = (job.stage.name, job.partition)
                make_way(job.storage, job.look, key, replaced, ledger.known(*key))
            version = ledger.remove(job.stage.name, job.partition, version)
        task.publish()
        record = msgspec.structs.replace(record, files=[task.stored(file) for file in record.files])
        entry = ledger.replace(record, version)
    except BaseException:
        forget_inputs()
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
