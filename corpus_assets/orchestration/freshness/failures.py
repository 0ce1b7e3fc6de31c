"""The last failure of each partition, kept until it succeeds, or until its inputs change.

A failure is a small JSON file in `ledger/.failures`. It is no part of the ledger, and may be lost.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from resources.errors import CorpusError
from resources.hashing import content_digest
from resources.ledger.ledger import FOLDER, partition_name, recipe_digest
from resources.ledger.records import Record
from resources.planning.planner import Planner, Status
from resources.stage.declaration import Stage
from resources.stage.jobs.job import Outcome
from resources.storage.interface import Storage

FAILURES = f"{FOLDER}/.failures"
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, OSError, CorpusError)


class Failure(msgspec.Struct, frozen=True):
    """Why and when a partition failed, and the state of its inputs for which that holds."""

    asset: str
    partition: str | None
    state: str
    error: str
    when: str

    def words(self, now: datetime) -> str:
        """Returns the failure in words: `failed 3 hours ago: gzip stream is cut`."""
        return f"failed {ago(self.when, now)}: {self.error}"


class KeptFailures:
    """Keeps the errors of partitions, and removes those of partitions that succeeded or became fresh otherwise.

    If the store is not writable, nothing is kept, which is no fault of the build.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._paths = set(_paths(storage, FAILURES))

    def note(self, planner: Planner, outcome: Outcome) -> None:
        """Notes the outcome of a partition. planner: the state from which it was computed."""
        stage, key = planner.graph[outcome.asset], outcome.partition
        path = _path(stage, key)
        with suppress(OSError, CorpusError):
            if outcome.error is not None:
                failure = Failure(stage.name, key, state(planner, stage, key), outcome.error, _now())
                self._storage.write(path, msgspec.json.encode(failure))
                self._paths.add(path)
            else:
                self._remove(path)

    def overcome(self, planner: Planner) -> list[Record]:
        """Returns the records of partitions that failed but are fresh again because a change was taken back."""
        found = []
        for path in sorted(self._paths):
            failure = _read(self._storage, path)
            if failure is not None and failure.asset in planner.graph.stages:
                decision = planner.decisions(planner.graph[failure.asset]).get(failure.partition)
                if decision is not None and decision.status is Status.FRESH:
                    found.append(planner.records(failure.asset)[failure.partition])
        return found

    def forget(self, planner: Planner, records: Iterable[Record]) -> None:
        """Removes the failures of these partitions."""
        with suppress(OSError, CorpusError):
            for record in records:
                self._remove(_path(planner.graph[record.asset], record.partition))

    def _remove(self, path: str) -> None:
        if path in self._paths:
            self._storage.delete(path)
            self._paths.discard(path)


def any_failure(storage: Storage) -> bool:
    """Returns whether any failure is kept, whether or not it still holds."""
    return bool(_paths(storage, FAILURES))


def failures(planner: Planner, stage: Stage) -> dict[str | None, Failure]:
    """Returns the failures of a stage that still hold, by partition; those that cannot be read are left out.

    None while an input is not fresh, since it may turn out different.
    """
    found = {}
    ready = {key for key, decision in planner.decisions(stage).items() if not decision.blocked}
    for path in _paths(planner.storage, _folder(stage)):
        failure = _read(planner.storage, path)
        if failure is None or failure.partition not in ready:
            continue
        if failure.state == state(planner, stage, failure.partition):
            found[failure.partition] = failure
    return found


def state(planner: Planner, stage: Stage, key: str | None) -> str:
    """Returns a digest of a partition's present input and parameters."""
    shard = planner.shard(key)
    parameters = planner.parameters(stage, key)
    recipe = recipe_digest(stage.name, stage.code_version, parameters, planner.inputs(stage, key))
    read = shard.file_beside(stage.beside) if shard is not None and stage.beside is not None else shard
    seen = read.seen() if read is not None and stage.looks_outside else {}
    return content_digest(msgspec.json.encode([recipe, seen], order="deterministic"))


def _paths(storage: Storage, folder: str) -> list[str]:
    with suppress(OSError, CorpusError):
        return sorted(entry.path for entry in storage.entries(folder))
    return []


def _read(storage: Storage, path: str) -> Failure | None:
    with suppress(*_UNREADABLE), storage.open(path) as file:
        return msgspec.json.decode(file.read(), type=Failure)
    return None


def _folder(stage: Stage) -> str:
    return f"{FAILURES}/{stage.name.replace('/', '.')}"


def _path(stage: Stage, key: str | None) -> str:
    """Returns the path of a failure. Its name is a digest; the file itself names the partition."""
    return f"{_folder(stage)}/{content_digest(partition_name(stage.name, key).encode())}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def ago(when: str, now: datetime) -> str:
    """Returns how long ago a moment was: `3 hours ago`; `once` for a moment that cannot be read."""
    try:
        seconds = (now - datetime.fromisoformat(when)).total_seconds()
    except (ValueError, TypeError):
        return "once"
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
