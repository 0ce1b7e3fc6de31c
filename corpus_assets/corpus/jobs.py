"""Makes the jobs of partitions, which hold everything that a worker needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from resources.engine.interface import Engine
from resources.engine.memory import share_of
from resources.errors import CorpusError
from resources.planning.planner import Planner
from resources.shards.listing import Shard
from resources.stage.declaration import Input, Partitioning, Stage
from resources.stage.hooks import NO_HOOKS
from resources.stage.jobs.job import Job
from resources.stage.jobs.keys import Keys
from resources.stage.task import Task
from resources.storage.holders import Process


@dataclass(frozen=True)
class _Shared:
    """The part that all jobs of a stage share."""

    stage: Stage
    local_files: Mapping[str, bytes]
    run_options: Mapping[str, Any]


def _refuse(keys: Sequence[str], _: Task) -> None:
    """Replaces the stage's function by a failure, because the record would name other files than were read."""
    raise CorpusError(f"{', '.join(keys)}: a file that it is derived from changed since the build began; build again")


class Jobs:
    """Makes the jobs of the partitions of a planner.

    builder: who builds.
    memory: bytes that the workers of a machine may take together.
    engine: runs the jobs.
    changes: see `Job`.
    """

    def __init__(
        self, planner: Planner, builder: Process, memory: int, engine: Engine, changes: Sequence[str] = ()
    ) -> None:
        self._planner = planner
        self._builder = builder
        self._memory = memory
        self._engine = engine
        self._changes = tuple(changes)
        self._compression = planner.settings.get("storage.compression")
        self._shared: dict[str, _Shared] = {}
        self._keys: dict[str, tuple[list[str | None], Keys]] = {}

    def job(self, stage: Stage, key: str | None, expired: str = "") -> Job:
        """Returns the job of one partition. expired: see `Job`."""
        shared = self._shared.get(stage.name) or self._shared.setdefault(stage.name, self._share(stage, key))
        # A partition of the whole corpus runs alone, so it gets all the memory of its machine.
        sharing = 1 if stage.partitioning is Partitioning.NONE else self._engine.workers_per_machine
        return Job(
            stage=shared.stage,
            partition=key,
            shards=self._shards(stage, key),
            parameters=self._planner.parameters(stage, key),
            expected={edge.asset: self._expected(edge, key) for edge in stage.inputs},
            states={edge.asset: self._planner.state(edge.asset) for edge in stage.inputs},
            storage=self._planner.storage,
            memory=share_of(self._memory, sharing, self._engine.own_memory),
            local_files=shared.local_files,
            run_options=shared.run_options,
            builder=self._builder,
            known=self._planner.ledger.version(stage.name, key),
            expired=expired,
            look=self._planner.name,
            compression=self._compression,
            changes=self._changes,
        )

    def _expected(self, edge: Input, key: str | None) -> Keys:
        """Returns the keys that an edge reads; jobs that read the same share them."""
        read = self._planner.keys_read(edge, key)
        if len(read) == 1:
            return Keys(read)
        known, keys = self._keys.get(edge.asset, (None, Keys()))
        if known is not read:
            keys = Keys(read)
            self._keys[edge.asset] = read, keys
        return keys

    def _share(self, stage: Stage, key: str | None) -> _Shared:
        values = self._planner.settings.values
        bare, local_files = replace(stage, hooks=NO_HOOKS), stage.hooks.local_files(values)
        if local_files and (changed := self._changed(stage, key)):
            bare = replace(bare, compute=partial(_refuse, changed))
        return _Shared(bare, local_files, stage.hooks.run_options(values))

    def _changed(self, stage: Stage, key: str | None) -> list[str]:
        """Returns the parameters that differ from the plan because files that they are derived from have changed."""
        planned = self._planner.parameters(stage, key)
        now = self._planner.settings.parameters(stage, self._planner.shard(key))
        return [name for name in sorted({*planned, *now}) if planned.get(name) != now.get(name)]

    def _shards(self, stage: Stage, key: str | None) -> tuple[Shard, ...]:
        """Returns the raw files that a job may read: its own, or all of them if the whole corpus is one partition."""
        if stage.partitioning is Partitioning.NONE:
            return self._planner.listing.shards
        shard = self._planner.shard(key)
        return () if shard is None else (shard,)
