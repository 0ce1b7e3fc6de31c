"""Decides partitions of one stage: whether each is fresh, and if not, why."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from resources.hashing import content_digest
from resources.ledger.ledger import Record, partition_name, record_path
from resources.ledger.records import RecipeMaker
from resources.planning.absences import Absences
from resources.planning.changes import input_change, own_change
from resources.planning.decisions import Decision, Status
from resources.planning.inputs import Inputs
from resources.planning.stored_files import StoredFiles
from resources.shards.listing import Listing, Shard, remembered_digest
from resources.stage.declaration import Input, Reads, Stage

Key = str | None
Found = Mapping[Key, Decision]


class Known(NamedTuple):
    """What is known of a corpus at one moment.

    shards: the raw files by key.
    records: of an asset, by key.
    parameters: the values that the content of a partition depends on.
    unreadable: paths of damaged records.
    absences: why partitions have no record.
    """

    listing: Listing
    shards: Mapping[str, Shard]
    stored: StoredFiles
    inputs: Inputs
    records: Callable[[str], Mapping[Key, Record]]
    parameters: Callable[[Stage, Key], dict[str, Any]]
    unreadable: Mapping[str, str]
    absences: Absences


class _Source:
    """The values that the partitions of one source share, or all partitions that belong to no source."""

    def __init__(self, stage: Stage, parameters: dict[str, Any]) -> None:
        self._stage = stage
        self._parameters = parameters
        self._unchanged: dict[str, Any] | None = None
        self.recipe = RecipeMaker(stage.name, stage.code_version, parameters)

    def change(self, record: Record) -> str:
        """Returns in words how the code version or the parameters changed; empty if they did not."""
        if record.parameters is self._unchanged and record.code_version == self._stage.code_version:
            return ""  # Records from one snapshot share them.
        if change := own_change(self._stage, self._parameters, record):
            return change
        self._unchanged = record.parameters
        return ""


class Decider:
    """Decides partitions of one stage, for as long as neither gates nor anything that the stage reads changes.

    held: in words which gate before the stage is closed, and why; empty if none is.
    in_the_way: the edges with upstream partitions that are not ready, each with the decisions of that stage by key.
    """

    def __init__(self, known: Known, stage: Stage, held: str, in_the_way: Iterable[tuple[Input, Found]]) -> None:
        self._known = known
        self._stage = stage
        self._held = held
        self._records = known.records(stage.name)
        self._in_the_way = list(in_the_way)
        self._all_blocked = ""
        self._reads_segments = any(edge.tracked and edge.segment is not None for edge in stage.inputs)
        self._sources: dict[str | None, _Source] = {}

    def decide(self, key: Key) -> Decision:
        """Returns the decision for one partition. Raises `ConfigError` for parameters that cannot be."""
        stage, held = self._stage, self._held
        source = self._source(key)
        record = self._records.get(key)
        if record is None:
            return self._not_fresh(key, Status.MISSING, held or self._reason_of_absence(key))
        if fault := self._known.stored.damage(record):
            return self._not_fresh(key, Status.MISSING if fault.startswith("file missing") else Status.STALE, fault)
        if stage.frozen:
            return Decision(stage.name, key, Status.FRESH)
        if reason := source.change(record):
            return self._not_fresh(key, Status.STALE, held or reason)
        if stage.looks_outside:
            return self._look_outside(key, record)
        if blocked := self._blocked(key):
            return self._not_fresh(key, Status.WAITING, blocked)
        if self._reads_segments and (absent := self._known.inputs.absent_segment(stage, key)):
            return self._not_fresh(key, Status.STALE, f"reads {absent}")
        inputs = self._known.inputs.of(stage, key)
        if source.recipe.digest(inputs) == record.recipe:
            return Decision(stage.name, key, Status.FRESH)
        return Decision(stage.name, key, Status.STALE, input_change(record.inputs, inputs, stage.stand_ins))

    def _not_fresh(self, key: Key, status: Status, reason: str) -> Decision:
        return Decision(self._stage.name, key, status, reason, blocked=self._blocked(key), held_back=self._held)

    def _source(self, key: Key) -> _Source:
        shard = self._known.shards.get(key or "")
        name = shard.source if shard else None
        if name not in self._sources:
            self._sources[name] = _Source(self._stage, self._known.parameters(self._stage, key))
        return self._sources[name]

    def _reason_of_absence(self, key: Key) -> str:
        if record_path(self._stage.name, key) in self._known.unreadable:
            return "commit record damaged"
        return self._known.absences.reason(self._stage, key)

    def _blocked(self, key: Key) -> str:
        """Returns in words why a partition has to wait: a closed gate, or an input that is not ready; empty if none."""
        if self._held:
            return self._held
        for edge, found in self._in_the_way:
            if edge.mapping is not Reads.SAME or None in found:
                self._all_blocked = self._all_blocked or _first_of(edge, found)
                return self._all_blocked
            if key in found:
                return _in_words(edge, found[key])
        return ""

    def _look_outside(self, key: Key, record: Record) -> Decision:
        """Returns the decision for a stage that looks outside: the listing of raw files, or one raw file."""
        if self._stage.lists_shards:
            change = input_change(record.inputs, listing_inputs(self._known.listing))
            return self._looked(key, change)
        raw, beside = self._known.shards[key or ""], self._stage.beside
        if beside is None:
            return self._look_at(raw, key, record, "raw shard", "changed")
        # None if its source has no such files, or if the raw files are those of the last build.
        found = raw.file_beside(beside)
        return self._look_at(found, key, record, "file", found.problem or "changed") if found else self._looked(key, "")

    def _look_at(self, shard: Shard, key: Key, record: Record, what: str, change: str) -> Decision:
        """Returns the decision for the digest of a file. what: the file, in words. change: what befell it, if so."""
        if record.inputs.get("name") != shard.path_digest():
            return self._looked(key, f"{what} {shard.label} was renamed")
        if shard.is_as(record.seen):
            return self._looked(key, "")
        if shard.bytes != record.seen.get("bytes") or remembered_digest(shard) != record.inputs.get("file"):
            return self._looked(key, f"{what} {shard.label} {change}")
        return Decision(self._stage.name, key, Status.FRESH, rewritten=True)

    def _looked(self, key: Key, change: str) -> Decision:
        return Decision(self._stage.name, key, Status.STALE if change else Status.FRESH, change)


def listing_inputs(listing: Listing) -> dict[str, str]:
    """Returns the listing as inputs of a recipe: one entry per raw file, without its modification time."""
    return {shard.key: content_digest(_row(shard).encode()) for shard in listing.shards}


def _row(shard: Shard) -> str:
    """Returns the row of the inventory for a shard: source, file, size and number of listed files."""
    return f"{shard.source}\t{shard.label}\t{shard.bytes}\t{len(shard.members)}"


def _first_of(edge: Input, found: Found) -> str:
    """Returns in words which upstream partitions are not ready."""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{_in_words(edge, next(iter(found.values())))}{more}"


def _in_words(edge: Input, decision: Decision) -> str:
    return f"{partition_name(edge.asset, decision.partition)} is {decision.status}"
