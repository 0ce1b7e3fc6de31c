"""What a stage is: the declaration that planning, execution and the Dagster asset are all made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from resources.errors import ConfigError

if TYPE_CHECKING:
    from resources.task import Task


class Partitioning(Enum):
    """What one partition of an asset is."""

    SHARD = "shard"
    BAND = "band"
    CHUNK = "chunk"
    NONE = "none"


class Reads(Enum):
    """Which upstream partitions one partition reads."""

    SAME = "same"
    ALL = "all"
    SEGMENT = "segment"


@dataclass(frozen=True)
class Input:
    """One edge of the graph.

    mapping: SAME reads the partition of the same key (or the only one of an unpartitioned asset); ALL reads every
    partition; SEGMENT reads from every partition only the part named like the reading partition, so a change in
    other parts does not matter. An untracked input must exist, but its content is not part of the recipe. With `part`,
    only the segment of that name counts: a change in the rest of the partition does not matter.
    """

    asset: str
    mapping: Reads = Reads.SAME
    tracked: bool = True
    part: str | None = None

    def segment(self, key: str | None) -> str | None:
        """The segment whose digest stands for an upstream partition when `key` is built; None for the whole."""
        return self.part if self.mapping is not Reads.SEGMENT else key


def same(asset: str, *, part: str | None = None) -> Input:
    """Read the partition with the same key, or depend on one named part of it only."""
    return Input(asset, part=part)


def every(asset: str, *, tracked: bool = True, part: str | None = None) -> Input:
    """Read all partitions, or depend on one named part of each only."""
    return Input(asset, Reads.ALL, tracked, part)


def segment(asset: str) -> Input:
    """Read from all partitions the segment named like this partition."""
    return Input(asset, Reads.SEGMENT)


Kind = Literal["documents", "arrays", "records", "hdf5"]


@dataclass(frozen=True)
class Stage:
    """One asset: a plain per-partition function with what it reads, what it depends on and what it is called.

    parameters: dotted keys of `corpus.yaml` that the content depends on; `source.<key>` is the key of the shard's own
    source. compute: a module-level function of a `Task`. code_version goes up in the commit that changes what is
    computed. kind: which IO manager hands its content out. places: where files outside
    the store lie that the function reads (their content counts, as extra parameters; their place does not), and how to
    work where that has no influence on the content.
    observed: the function looks at something outside the
    store and returns what it saw as further inputs of the recipe. gate: why what it built may not be used (faults in
    words), given a partition's statistics and the configuration; while there is any, nothing downstream is computed.
    source: whose raw files the shards of a shard stage are; None = those of all sources of the corpus.
    """

    name: str
    group: str
    description: str
    partitioning: Partitioning
    compute: Callable[[Task], Mapping[str, str] | None]
    code_version: str
    kind: Kind
    inputs: tuple[Input, ...] = ()
    parameters: tuple[str, ...] = ()
    extra_parameters: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    places: Callable[[Mapping[str, Any]], Mapping[str, str]] | None = None
    observed: bool = False
    gate: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[str]] | None = None
    source: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()


class Graph:
    """All stages of a corpus in the order the data flows. Immutable."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        self.stages: dict[str, Stage] = {}
        for stage in _ordered({stage.name: stage for stage in _unique(stages)}):
            self.stages[stage.name] = stage

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages.values())

    def __getitem__(self, name: str) -> Stage:
        try:
            return self.stages[name]
        except KeyError:
            raise ConfigError(f"no asset named {name!r}; assets are: {', '.join(self.stages)}") from None

    def select(self, names: Sequence[str]) -> list[Stage]:
        """Stages by name; `+name` adds all that it reads, `name+` all that reads it, `group:x` a whole group.

        What looks at the raw files is always among them: nothing can be decided without it.
        """
        chosen: set[str] = set()
        for name in names:
            core = name.strip("+")
            group = core.removeprefix("group:")
            found = {s.name for s in self if s.group == group} if group != core else {self[core].name}
            if not found:
                valid = ", ".join(sorted({stage.group for stage in self}))
                raise ConfigError(f"no assets in group {group!r}; groups are: {valid}")
            chosen |= found
            for start in found:
                chosen |= self._reach(start, self._upstream) if name.startswith("+") else set()
                chosen |= self._reach(start, self._downstream) if name.endswith("+") else set()
        read = {upstream for name in chosen for upstream in self._reach(name, self._upstream)}
        return [stage for stage in self if stage.name in chosen or (stage.observed and stage.name in read)]

    def _upstream(self, name: str) -> set[str]:
        return {edge.asset for edge in self.stages[name].inputs}

    def _downstream(self, name: str) -> set[str]:
        return {stage.name for stage in self if name in {edge.asset for edge in stage.inputs}}

    @staticmethod
    def _reach(start: str, neighbours: Callable[[str], set[str]]) -> set[str]:
        reached: set[str] = set()
        frontier = [start]
        while frontier:
            new = neighbours(frontier.pop()) - reached
            reached |= new
            frontier.extend(new)
        return reached


def _unique(stages: Iterable[Stage]) -> Iterator[Stage]:
    seen: set[str] = set()
    for stage in stages:
        if stage.name in seen:
            raise ConfigError(f"two assets are named {stage.name!r}")
        seen.add(stage.name)
        yield stage


def _ordered(stages: dict[str, Stage]) -> Iterator[Stage]:
    """Topological order that keeps the order of declaration where it can."""
    done: set[str] = set()
    visiting: set[str] = set()

    def visit(stage: Stage) -> Iterator[Stage]:
        if stage.name in done:
            return
        if stage.name in visiting:
            raise ConfigError(f"asset {stage.name!r} depends on itself")
        visiting.add(stage.name)
        for edge in stage.inputs:
            if edge.asset not in stages:
                raise ConfigError(f"asset {stage.name!r} reads {edge.asset!r}, which does not exist")
            yield from visit(stages[edge.asset])
        done.add(stage.name)
        yield stage

    for stage in stages.values():
        yield from visit(stage)
