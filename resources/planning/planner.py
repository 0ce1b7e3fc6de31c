"""The plan: which partitions are not fresh, and why. A pure function of settings, listing and ledger."""

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from resources.errors import each
from resources.hashing import value_digest
from resources.ledger.ledger import Ledger, Record
from resources.planning.absences import Absences
from resources.planning.deciding import Decider, Known, listing_inputs
from resources.planning.decisions import Decision, Plan, Status
from resources.planning.inputs import Inputs
from resources.planning.stored_files import StoredFiles
from resources.shards.listing import Listing, Shard
from resources.stage.declaration import Input, Partitioning, Reads, Stage
from resources.stage.graph import Graph
from resources.stage.hooks import Hooks, gives
from resources.stage.settings import Settings
from resources.storage.interface import Storage

__all__ = ["Decision", "Plan", "Planner", "Status", "held_back", "listing_inputs", "partition_keys"]


class Planner:
    """Compares settings, a listing of the raw files and the ledger at one moment. name: unique to each planner."""

    def __init__(self, graph: Graph, settings: Settings, listing: Listing, storage: Storage, ledger: Ledger) -> None:
        self.graph = graph
        self.settings = settings
        self.listing = listing
        self.storage = storage
        self.ledger = ledger
        self._shards = listing.by_key()
        self._whole = {stage.name for stage in graph if stage.partitioning is Partitioning.NONE}
        self._keys: dict[str, list[str | None]] = {}
        self._by_path: dict[str, list[str | None]] = {}
        self._records: dict[str, dict[str | None, Record]] = {}
        self._inputs = Inputs(self.keys_read, self.records)
        self._decisions: dict[str, dict[str | None, Decision]] = {}
        self._in_the_way: dict[tuple[str, bool], dict[str | None, Decision]] = {}
        self._parameters: dict[tuple[str, str | None], dict[str, Any]] = {}
        self._stored = StoredFiles(storage)
        self._known = Known(
            listing,
            self._shards,
            self._stored,
            self._inputs,
            self.records,
            self.parameters,
            ledger.unreadable,
            Absences(graph, self.records),
        )
        self._gates: dict[str, list[str]] = {}
        self._foreseen: dict[str, Sequence[str]] = {}
        self.name = secrets.token_hex(8)
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
        """Returns the sentences of `Hooks.compares`, and of `Hooks.foretells` unless the stage has nothing to do."""
        compared = stage.hooks.compares(self.content, self.settings.values)
        return [*compared, *(() if self.all_fresh(stage) else stage.hooks.foretells(self.settings.values))]

    def content(self, asset: str) -> str | None:
        """Returns a digest of all content that an asset has now; None if none of it is built, or there is no such."""
        keys = self.partitions(self.graph[asset]) if asset in self.graph.stages else []
        records = self.records(asset) if keys else {}
        found = {str(key): records[key].digest for key in keys if key in records}
        return value_digest(found) if found else None

    def partitions(self, stage: Stage) -> list[str | None]:
        """Returns the partition keys that a stage should have now, in canonical order."""
        if stage.name not in self._keys:
            self._keys[stage.name] = partition_keys(stage, self.settings, self.listing)
        return self._keys[stage.name]

    def keys_read(self, edge: Input, key: str | None) -> list[str | None]:
        """Returns the keys of the upstream partitions that an edge reads when `key` is built, in the order of the edge.

        That is the canonical order, or that of the files' paths.
        """
        if edge.mapping is Reads.SAME and edge.asset not in self._whole:
            return [key]
        keys = self.partitions(self.graph[edge.asset])
        if not edge.by_path:
            return keys
        if edge.asset not in self._by_path:
            self._by_path[edge.asset] = sorted(keys, key=self._path)
        return self._by_path[edge.asset]

    def _path(self, key: str | None) -> str:
        """Returns the path of the raw file with that key; an empty path for keys of no file."""
        shard = self._shards.get(key or "")
        return shard.path if shard else ""

    def decisions(self, stage: Stage) -> dict[str | None, Decision]:
        """Returns the decision for every partition of one stage, by key; the stages it reads are decided first."""
        if stage.name not in self._decisions:
            decider = self._decider(stage)
            decided = {key: decider.decide(key) for key in self.partitions(stage)}
            self._decisions[stage.name] = decided
            for tracked in (True, False):
                found = {key: decision for key, decision in decided.items() if _is_in_the_way(decision, tracked)}
                self._in_the_way[stage.name, tracked] = found
        return self._decisions[stage.name]

    def decide_again(self, stage: Stage, keys: Iterable[str | None]) -> list[Decision]:
        """Returns new decisions for some partitions, from the records that are known now."""
        known, decider = self.decisions(stage), self._decider(stage)
        decisions = [decider.decide(key) for key in keys]
        for decision in decisions:
            if decision != known[decision.partition]:
                known[decision.partition] = decision
                self._note_whether_in_the_way(decision)
        return decisions

    def _note_whether_in_the_way(self, decision: Decision) -> None:
        for tracked in (True, False):
            found = self._in_the_way[decision.asset, tracked]
            if _is_in_the_way(decision, tracked):
                found[decision.partition] = decision
            else:
                found.pop(decision.partition, None)

    def check_before(self, due: Iterable[Stage]) -> None:
        """Raises `ConfigError` for faults that would otherwise show only when a stage runs, perhaps after hours."""
        each(partial(stage.hooks.check_before, self.settings.values) for stage in due)

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
        """Notes a record that was committed after the ledger was read. Decisions stay until `decide_again`."""
        self.records(record.asset)[record.partition] = record
        self._stored.committed(record)
        self._note_change(record.asset)

    def forgotten(self, asset: str, key: str | None) -> None:
        """Notes that a record was removed after the ledger was read."""
        self.records(asset).pop(key, None)
        self._note_change(asset)

    def _note_change(self, asset: str) -> None:
        self._inputs.forget(asset)
        self._changes[asset] += 1

    def stored_below(self, tops: Collection[str]) -> Iterator[str]:
        """Yields the paths of files in top folders of the store, as they were when these were listed."""
        return self._stored.below(tops)

    def state(self, asset: str) -> str:
        """Returns a name for the present state of an asset's records; another state has another name."""
        return f"{self.name} {self._changes[asset]}"

    def ask_gates_again(self) -> None:
        """Forgets which gates are closed, since the records that they look at have changed."""
        self._gates.clear()

    def records(self, asset: str) -> dict[str | None, Record]:
        """Returns the commit records of an asset, which are read once."""
        if asset not in self._records:
            self._records[asset] = self.ledger.records(asset)
        return self._records[asset]

    def built(self, stage: Stage) -> list[Record]:
        """Returns the existing records of the partitions that a stage should have, in canonical order.

        May be called while another thread notes records.
        """
        records = self.records(stage.name)
        return [record for key in self.partitions(stage) if (record := records.get(key)) is not None]

    def inputs(self, stage: Stage, key: str | None) -> dict[str, str]:
        """Returns the content digests of the tracked inputs of a partition that exist, by `asset/partition`."""
        return self._inputs.of(stage, key)

    def _decider(self, stage: Stage) -> Decider:
        """Returns the decider of a stage in the present state; the stages it reads are decided first."""
        for edge in stage.inputs:
            self.decisions(self.graph[edge.asset])
        found = ((edge, self._in_the_way[edge.asset, edge.tracked]) for edge in stage.inputs)
        return Decider(self._known, stage, self._held_back(stage), [(edge, those) for edge, those in found if those])

    def _held_back(self, stage: Stage) -> str:
        """Returns in words which upstream gate is closed, and why; empty if none is.

        A gate over records is asked once its stage is fresh, one over the listing before.
        """
        for edge in stage.inputs:
            upstream = self.graph[edge.asset]
            if (fault := self.gate(upstream)) and self.all_fresh(upstream):
                return held_back(edge.asset, fault)
            if faults := self.foreseen(upstream):
                return held_back(edge.asset, _first_and_more(faults))
        return ""

    def foreseen(self, stage: Stage) -> Sequence[str]:
        """Returns why downstream stages will not use what a stage builds, as far as the listing shows it."""
        if stage.name not in self._foreseen:
            self._foreseen[stage.name] = stage.hooks.gate_listing(self.settings.values, self.listing)
        return self._foreseen[stage.name]

    def gate(self, stage: Stage) -> str:
        """Returns why downstream stages must not use what a stage built; empty if they may, or if it has no gate."""
        return _first_and_more(self._faults(stage))

    def _faults(self, stage: Stage) -> list[str]:
        """Returns all reasons of a closed gate, each once, also if several stages before it are closed by it."""
        if stage.name not in self._gates:
            self._gates[stage.name] = list(dict.fromkeys(self._gate_faults(stage)))
        return self._gates[stage.name]

    def _gate_faults(self, stage: Stage) -> Iterator[str]:
        # A record of another code version may have other counters; its partition is stale anyway.
        records = {
            key: record
            for key, record in (self.records(stage.name) if stage.has_gate else {}).items()
            if record.code_version == stage.code_version
        }
        if gives(stage.hooks, Hooks.gate):
            for record in (records[key] for key in self.partitions(stage) if key in records):
                yield from stage.hooks.gate(record.numbers, self.settings.values)
        yield from stage.hooks.gate_all(records, self.settings.values, self.listing)
        if not self.partitions(stage):
            # A stage without partitions cannot wait, so gates before it must be asked here.
            for edge in stage.inputs:
                yield from self._faults(self.graph[edge.asset])

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


def _first_and_more(faults: Sequence[str]) -> str:
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{faults[0]}{more}" if faults else ""


def held_back(asset: str, fault: str) -> str:
    """Returns the reason why everything downstream of a closed gate waits."""
    return f"{asset} is held back: {fault}"


def _is_in_the_way(upstream: Decision, tracked: bool) -> bool:
    """Returns whether readers of a partition must wait for it; without tracking it only has to exist."""
    return upstream.status is not Status.FRESH if tracked else upstream.status is Status.MISSING
