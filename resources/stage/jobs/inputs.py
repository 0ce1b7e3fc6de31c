"""The partitions that a job reads, of every edge of its stage."""

from collections.abc import Mapping
from threading import local

from resources.errors import LedgerError
from resources.ledger.ledger import Ledger, Record, partition_name
from resources.shards.listing import Shard
from resources.stage.declaration import Input
from resources.stage.jobs.job import Job
from resources.stage.partition import Partition
from resources.stage.partitions import Partitions


class _Handles(local):
    """The handles that the last job of this thread was given, by asset; the next one may read the same partitions.

    The job of a band reads all shards, and making the handles would cost as much as reading them.
    """

    def __init__(self) -> None:
        self.given: dict[str, tuple[object, Partitions]] = {}


_HANDLES = _Handles()


def inputs_of(ledger: Ledger, job: Job) -> dict[Input, Partitions]:
    """Returns the upstream partitions of each edge; `LedgerError` if one does not exist."""
    before, _HANDLES.given = _HANDLES.given, {}
    shards = {shard.key: shard for shard in job.shards}
    found = {}
    for edge in job.stage.inputs:
        if edge.asset not in job.states or _is_one(job, edge) or shards:
            found[edge] = _partitions(ledger, job, edge, shards)
            continue
        state = (job.storage, job.states[edge.asset], len(job.expected[edge.asset]), edge.by_path)
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


def forget_inputs() -> None:
    """Makes the next job create its handles again: these remember begun files, whose faults it would report."""
    _HANDLES.given = {}
