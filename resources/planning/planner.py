"""The plan: which partitions are not fresh, and why. A pure function of settings, listing and ledger."""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from resources.hashing import content_digest
from resources.ledger import Ledger, Record, partition_name, recipe_digest, record_path
from resources.planning.changes import input_change, own_change
from resources.planning.decisions import Decision, Plan, Status
from resources.planning.inputs import Inputs
from resources.planning.stored_files import StoredFiles
from resources.shards import Listing, Shard, remembered_digest
from resources.stage.declaration import Input, Partitioning, Reads, Stage
from resources.stage.graph import Graph
from resources.stage.settings import Settings
from resources.storage.interface import Storage

__all__ = ["Decision", "Plan", "Planner", "Status", "held_back", "listing_inputs", "partition_keys", "shard_row"]


class Planner:
    """Compares the settings, a listing of the raw files and the ledger, all as they are at one moment."""

    def __init__(self, graph: Graph, settings: Settings, listing: Listing, storage: Storage, ledger: Ledger) -> None:
        self.graph = graph
        self.settings = settings
        self.listing = listing
        self.storage = storage
        self.ledger = ledger
        self._shards = listing.by_key()
        self._keys: dict[str, list[str | None]] = {}
        self._records: dict[str, dict[str | None, Record]] = {}
        self._inputs = Inputs(self.keys_read, self.records)
        self._decisions: dict[str, dict[str | None, Decision]] = {}
        self._in_the_way: dict[tuple[str, bool], dict[str | None, Decision]] = {}
        self._parameters: dict[tuple[str, str | None], dict[str, Any]] = {}
        self._stored = StoredFiles(storage)
        self._gates: dict[str, str] = {}
        self._look = secrets.token_hex(8)
        self._changes: Counter[str] = Counter()

    def plan(self, stages: Iterable[Stage] | None = None) -> Plan:
        """Returns the plan of the given stages; by default of all stages, with the orphans."""
        if stages is None:
            self.look()
        wanted = {stage.name for stage in stages} if stages is not None else set(self.graph.stages)
        plan = Plan(notes=self.listing.notes())
        for stage in self.graph:
            if stage.name in wanted:
                plan.decisions += self.decisions(stage).values()
                plan.notes += self.foretold(stage)
        if stages is None:
            plan.orphans = self.orphans()
        return plan

    def look(self) -> None:
        """Looks at records and files of all stages, several requests at once, if the store answers with delay."""
        if self.storage.readers > 1:
            with self.ledger.listed(self.graph.stages):
                found = [self.records(name) for name in self.graph.stages]
            self._stored.look(record for records in found for record in islice(records.values(), 1))

    def foretold(self, stage: Stage) -> list[str]:
        """Returns what a stage says of its work before it, unless there is nothing to do."""
        if stage.foretells is None or self.all_fresh(stage):
            return []
        return list(stage.foretells(self.settings.values))

    def partitions(self, stage: Stage) -> list[str | None]:
        """Returns the partition keys that a stage should have now, in canonical order."""
        if stage.name not in self._keys:
            self._keys[stage.name] = partition_keys(stage, self.settings, self.listing)
        return self._keys[stage.name]

    def keys_read(self, edge: Input, key: str | None) -> list[str | None]:
        """Returns the keys of the upstream partitions that an edge reads when `key` is built, in canonical order."""
        upstream = self.graph[edge.asset]
        if edge.mapping is Reads.SAME and upstream.partitioning is not Partitioning.NONE:
            return [key]
        return self.partitions(upstream)

    def decisions(self, stage: Stage) -> dict[str | None, Decision]:
        """Returns the decision for every partition of one stage, by key; the stages it reads are decided first."""
        if stage.name not in self._decisions:
            decided = {key: self._decide(stage, key) for key in self.partitions(stage)}
            self._decisions[stage.name] = decided
            for tracked in (True, False):
                found = {key: decision for key, decision in decided.items() if _is_in_the_way(decision, tracked)}
                self._in_the_way[stage.name, tracked] = found
        return self._decisions[stage.name]

    def decide_again(self, stage: Stage, key: str | None) -> Decision:
        """Returns the decision for one partition, made anew from the records that are known now."""
        decision = self._decide(stage, key)
        self.decisions(stage)[key] = decision
        for tracked in (True, False):
            found = self._in_the_way[stage.name, tracked]
            if _is_in_the_way(decision, tracked):
                found[key] = decision
            else:
                found.pop(key, None)
        return decision

    def all_fresh(self, stage: Stage) -> bool:
        """Returns whether all partitions of a stage are fresh."""
        self.decisions(stage)
        return not self._in_the_way[stage.name, True]

    def is_in_the_way(self, edge: Input) -> bool:
        """Returns whether any partition of the asset that an edge reads is not ready to be read."""
        self.decisions(self.graph[edge.asset])
        return bool(self._in_the_way[edge.asset, edge.tracked])

    def parameters(self, stage: Stage, key: str | None) -> dict[str, Any]:
        """Returns the values that the content of one partition depends on, which are the same for all of a source."""
        shard = self._shards.get(key or "")
        kind = (stage.name, shard.source if shard else None)
        if kind not in self._parameters:
            self._parameters[kind] = self.settings.parameters(stage, shard)
        return self._parameters[kind]

    def shard(self, key: str | None) -> Shard | None:
        """Returns the raw file of a shard partition, if it is one."""
        return self._shards.get(key or "")

    def committed(self, record: Record) -> None:
        """Takes a record that was committed after the look at the ledger into account.

        Decisions stay as they are until they are made again (`decide_again`).
        """
        self.records(record.asset)[record.partition] = record
        self._stored.committed(record)
        self._note_change(record.asset)

    def forgotten(self, asset: str, key: str | None) -> None:
        """Takes into account that a record was removed after the look at the ledger."""
        self.records(asset).pop(key, None)
        self._note_change(asset)

    def _note_change(self, asset: str) -> None:
        self._inputs.forget(asset)
        self._changes[asset] += 1

    def state(self, asset: str) -> str:
        """Returns a name for the records of an asset as they are known now; others than these have another name."""
        return f"{self._look} {self._changes[asset]}"

    def ask_gates_again(self) -> None:
        """Forgets which gates are closed: the records that they look at have changed."""
        self._gates.clear()

    def records(self, asset: str) -> dict[str | None, Record]:
        """Returns the commit records of an asset, which are read once."""
        if asset not in self._records:
            self._records[asset] = self.ledger.records(asset)
        return self._records[asset]

    def inputs(self, stage: Stage, key: str | None) -> dict[str, str]:
        """Returns the content digests of the tracked inputs of a partition that exist, by `asset/partition`."""
        return self._inputs.of(stage, key)

    def _decide(self, stage: Stage, key: str | None) -> Decision:
        record = self.records(stage.name).get(key)
        parameters = self.parameters(stage, key)
        held = self._held_back(stage)
        blocked = held or self._blocked(stage, key)

        def decision(status: Status, reason: str) -> Decision:
            return Decision(stage.name, key, status, reason, blocked=blocked, held_back=held)

        if record is None:
            return decision(Status.MISSING, held or self._reason_of_absence(stage, key))
        if fault := self._stored.damage(record):
            return decision(Status.MISSING if fault.startswith("file missing") else Status.STALE, fault)
        if reason := own_change(stage, parameters, record):
            return decision(Status.STALE, held or reason)
        if stage.looks_outside:
            return self._look_outside(stage, key, record)
        if blocked:
            return decision(Status.WAITING, blocked)
        if absent := self._inputs.absent_segment(stage, key):
            return decision(Status.STALE, f"reads {absent}")
        inputs = self.inputs(stage, key)
        if recipe_digest(stage.name, stage.code_version, parameters, inputs) == record.recipe:
            return Decision(stage.name, key, Status.FRESH)
        return Decision(stage.name, key, Status.STALE, input_change(record.inputs, inputs, stage.stand_ins))

    def _reason_of_absence(self, stage: Stage, key: str | None) -> str:
        if record_path(stage.name, key) in self.ledger.unreadable:
            return "commit record damaged"
        return "new shard" if stage.partitioning is Partitioning.SHARD else "never built"

    def _blocked(self, stage: Stage, key: str | None) -> str:
        """Returns in words which input of a partition is not ready; empty if all are."""
        for edge in stage.inputs:
            upstream = self.decisions(self.graph[edge.asset])
            found = self._in_the_way[edge.asset, edge.tracked]
            if not found:
                continue
            if edge.mapping is Reads.SAME:
                keys = [read for read in self.keys_read(edge, key) if read in found]
            else:
                keys = list(found)
            if keys:
                more = f" and {len(keys) - 1} more" if len(keys) > 1 else ""
                return f"{partition_name(edge.asset, keys[0])} is {upstream[keys[0]].status}{more}"
        return ""

    def _held_back(self, stage: Stage) -> str:
        """Returns in words which upstream gate is closed, and why; empty if none is, or if its stage is not fresh."""
        for edge in stage.inputs:
            upstream = self.graph[edge.asset]
            if (fault := self.gate(upstream)) and self.all_fresh(upstream):
                return held_back(edge.asset, fault)
        return ""

    def gate(self, stage: Stage) -> str:
        """Returns why downstream stages must not use what a stage built; empty if they may, or if it has no gate."""
        if stage.name not in self._gates:
            faults = [*self._gate_faults(stage)]
            more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
            self._gates[stage.name] = f"{faults[0]}{more}" if faults else ""
        return self._gates[stage.name]

    def _gate_faults(self, stage: Stage) -> Iterator[str]:
        # An older version may have other counters; its partitions are stale anyway.
        records = {
            key: record
            for key, record in (self.records(stage.name) if stage.gate or stage.gate_all else {}).items()
            if record.code_version == stage.code_version
        }
        if stage.gate is not None:
            for record in (records[key] for key in self.partitions(stage) if key in records):
                yield from stage.gate(record.numbers, self.settings.values)
        if stage.gate_all is not None:
            yield from stage.gate_all(records, self.settings.values, self.listing)
        if not self.partitions(stage):
            # Without partitions nothing of it waits, so what closed the gate before it must be asked here.
            yield from filter(None, (self.gate(self.graph[edge.asset]) for edge in stage.inputs))

    def _look_outside(self, stage: Stage, key: str | None, record: Record) -> Decision:
        """Returns the decision for a stage that looks outside: the listing of raw files, or one raw file."""
        if stage.lists_shards:
            change = input_change(record.inputs, listing_inputs(self.listing))
            return Decision(stage.name, key, Status.STALE if change else Status.FRESH, change)
        shard = self._shards[key or ""]
        # Records of version 0.1 have it among the statistics.
        seen = record.seen or record.statistics
        if record.inputs.get("name") != shard.path_digest():
            return Decision(stage.name, key, Status.STALE, f"raw shard {shard.label} was renamed")
        if shard.is_as(seen):
            return Decision(stage.name, key, Status.FRESH)
        if shard.bytes != seen.get("bytes") or remembered_digest(shard) != record.inputs.get("file"):
            return Decision(stage.name, key, Status.STALE, f"raw shard {shard.label} changed")
        return Decision(stage.name, key, Status.FRESH, rewritten=True)

    def orphans(self) -> list[tuple[str, str | None]]:
        """Returns the partitions that have a record, but whose shard, band, range, chunk or asset is gone."""
        found = []
        for asset in sorted(self.ledger.assets()):
            known = set(self.partitions(self.graph[asset])) if asset in self.graph.stages else set()
            found += [(asset, key) for key in self.records(asset) if key not in known]
        return found


def partition_keys(stage: Stage, settings: Settings, listing: Listing) -> list[str | None]:
    """Returns the partition keys that exist now, in canonical order; an asset without partitions has the key None."""
    if stage.partitioning is Partitioning.SHARD:
        return list(listing.keys(settings.sources() if stage.shard_set is None else [stage.shard_set]))
    if stage.partitioning is Partitioning.BAND:
        return list(settings.bands())
    if stage.partitioning is Partitioning.RANGE:
        return list(settings.ranges())
    if stage.partitioning is Partitioning.CHUNK:
        return list(settings.chunks())
    return [None]


def listing_inputs(listing: Listing) -> dict[str, str]:
    """Returns the listing as inputs of a recipe: one entry per raw file, without its modification time."""
    return {shard.key: content_digest(shard_row(shard).encode()) for shard in listing.shards}


def held_back(asset: str, fault: str) -> str:
    """Returns the reason why everything downstream of a closed gate waits."""
    return f"{asset} is held back: {fault}"


def shard_row(shard: Shard) -> str:
    """Returns the row of the inventory for a shard: source, file, size and number of listed files."""
    return f"{shard.source}\t{shard.label}\t{shard.bytes}\t{len(shard.members)}"


def _is_in_the_way(upstream: Decision, tracked: bool) -> bool:
    """Returns whether a partition keeps those waiting that read it; without tracking it only has to exist."""
    return upstream.status is not Status.FRESH if tracked else upstream.status is Status.MISSING
