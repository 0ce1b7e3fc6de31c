"""One partition to compute, and its outcome: the messages between the driver and its workers."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.formats.jsonl.compressions import GZIP
from resources.ledger.ledger import Record, partition_name
from resources.shards.listing import Shard
from resources.stage.declaration import Stage
from resources.storage.holders import Process, this_process
from resources.storage.interface import Entry, Storage
from resources.storage.leases import Held


@dataclass(frozen=True)
class Job:
    """One partition to compute; small enough to send to a worker, on this machine or another.

    expected: the keys of each upstream asset that is read, in canonical order.
    states: a name for the records that each of these has now; while it stays the same, a worker looks at them once.
    memory: bytes the worker may use.
    local_files: contents of small files that the configuration names.
    run_options: options that do not change the content.
    builder: who builds.
    known: version of the partition's record, as the builder knows it.
    expired: token of a lease that may be taken over (see `Held`).
    look: a name for the plan that the job is of.
    compression: of rows (see `Given`).
    changes: of the configuration for this build alone (`--set`), which the record names.
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
    look: str = field(default_factory=lambda: secrets.token_hex(8))
    compression: str = GZIP.name
    changes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The partition as messages name it."""
        return partition_name(self.stage.name, self.partition)


@dataclass(frozen=True)
class Outcome:
    """The result of one job: the committed record, the error in words, or who else makes the partition now.

    damaged: asset and key of the partition whose damaged file is the reason of the error.
    entry: of the record's file.
    elsewhere: whether another builder committed the record since the plan; then it is not known yet to be fresh.
    held: the lease of another builder; with an error if it was taken over while this one computed the partition.
    lost: whether others took this builder for dead; then none of its jobs can do anything.
    gave_way: records of other partitions that were removed for files of this one.
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
    gave_way: tuple[Record, ...] = ()
