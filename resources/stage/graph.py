"""All stages of a corpus as a graph: their order, and their selection by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from resources.errors import ConfigError
from resources.stage.declaration import Input, Partitioning, Reads, Stage


class Graph:
    """All stages of a corpus in the order the data flows. Immutable."""

    def __init__(self, stages: Iterable[Stage]) -> None:
        declared = {stage.name: stage for stage in _unique(stages)}
        self.stages: dict[str, Stage] = {stage.name: stage for stage in _ordered(declared)}
        for stage in self:
            for edge in stage.inputs:
                _require_same_keys(stage, edge, self.stages[edge.asset])
        _require_order_of_groups(self.stages)

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages.values())

    def __getitem__(self, name: str) -> Stage:
        try:
            return self.stages[name]
        except KeyError:
            near = did_you_mean(name, self.stages)
            raise ConfigError(f"no asset named {name!r}{near}; assets are: {', '.join(self.stages)}") from None

    def groups(self) -> list[str]:
        """Returns the names of all groups in the order the data flows."""
        return list(dict.fromkeys(stage.group for stage in self))

    def select(self, names: Sequence[str]) -> list[Stage]:
        """Returns stages by name; `+name` adds all that it reads, `name+` all that read it, `group:x` a whole group.

        Stages that look outside are added if a chosen stage reads from them, since the plan needs them.
        """
        chosen: set[str] = set()
        for name in names:
            found = self._named(name.strip("+"))
            chosen |= found
            for start in found:
                chosen |= self._reach(start, self._upstream) if name.startswith("+") else set()
                chosen |= self._reach(start, self._downstream) if name.endswith("+") else set()
        read = {upstream for name in chosen for upstream in self._reach(name, self._upstream)}
        return [stage for stage in self if stage.name in chosen or (stage.looks_outside and stage.name in read)]

    def _named(self, name: str) -> set[str]:
        if not name:
            raise ConfigError(f"received an empty name of an asset; assets are: {', '.join(self.stages)}")
        group = name.removeprefix("group:")
        if group == name:
            return {self[name].name}
        found = {stage.name for stage in self if stage.group == group}
        if not found:
            near = did_you_mean(group, self.groups())
            raise ConfigError(f"no assets in group {group!r}{near}; groups are: {', '.join(sorted(self.groups()))}")
        return found

    def readers(self, name: str) -> list[Stage]:
        """Returns the stages that read an asset directly."""
        return [stage for stage in self if name in {edge.asset for edge in stage.inputs}]

    def _upstream(self, name: str) -> set[str]:
        return {edge.asset for edge in self.stages[name].inputs}

    def _downstream(self, name: str) -> set[str]:
        return {stage.name for stage in self.readers(name)}

    @staticmethod
    def _reach(start: str, neighbours: Callable[[str], set[str]]) -> set[str]:
        reached: set[str] = set()
        frontier = [start]
        while frontier:
            new = neighbours(frontier.pop()) - reached
            reached |= new
            frontier.extend(new)
        return reached


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Returns a question that names the known name nearest to a wrong one; empty if none is near."""
    near = get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _unique(stages: Iterable[Stage]) -> Iterator[Stage]:
    names: set[str] = set()
    for stage in stages:
        if stage.name in names:
            raise ConfigError(f"two assets are named {stage.name!r}")
        names.add(stage.name)
        yield stage


def _ordered(stages: dict[str, Stage]) -> Iterator[Stage]:
    """Yields the stages in topological order, as close to the order of declaration as possible."""
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


def _require_same_keys(stage: Stage, edge: Input, upstream: Stage) -> None:
    """Raises `ConfigError` if an edge reads the partition of the same key from an asset that has other keys."""
    if edge.mapping is not Reads.SAME or upstream.partitioning is Partitioning.NONE:
        return
    if (stage.partitioning, stage.shard_set) != (upstream.partitioning, upstream.shard_set):
        raise ConfigError(
            f"asset {stage.name!r} reads {edge.asset!r} partition by partition, but one has {_partitions(stage)} "
            f"and the other {_partitions(upstream)}; valid: every({edge.asset!r}) or own_segment({edge.asset!r})"
        )


def _crossings(stages: Mapping[str, Stage]) -> dict[tuple[str, str], str]:
    """Returns every pair of a group and another that it reads, with an edge between them in words."""
    return {
        (stage.group, stages[edge.asset].group): f"{stage.name} ({stage.group}) reads {edge.asset}"
        for stage in stages.values()
        for edge in stage.inputs
        if stages[edge.asset].group != stage.group
    }


def _require_order_of_groups(stages: Mapping[str, Stage]) -> None:
    """Raises `ConfigError` if groups read each other in a circle, because the web UI could not order them."""
    crossings = _crossings(stages)
    read = TopologicalSorter[str]()
    for reader, group in crossings:
        read.add(reader, group)
    try:
        read.prepare()
    except CycleError as error:
        circle = error.args[1]  # Each group is read by the one after it, and the last is the first.
        steps = [crossings[reader, group] for group, reader in pairwise(circle)]
        raise ConfigError(
            f"groups of assets read each other in a circle: {'; '.join(steps)}; valid: another group for one of these "
            "assets, such as one of its own"
        ) from None


def _partitions(stage: Stage) -> str:
    """Returns the partitions of a stage, in words."""
    if stage.partitioning is Partitioning.NONE:
        return "no partitions"
    return f"a partition per {stage.partitioning.value}" + (f" of {stage.shard_set}" if stage.shard_set else "")
