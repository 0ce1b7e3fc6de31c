"""The declaration of a stage, from which planning, execution and the Dagster asset are all made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

from resources.stage.hooks import NO_HOOKS, Hooks, Values, gives
from resources.stage.task import Task

IO = Literal["documents", "arrays", "records", "hdf5"]


class Partitioning(Enum):
    """The unit that one partition of an asset covers."""

    SHARD = "shard"
    BAND = "band"
    RANGE = "range"
    CHUNK = "chunk"
    NONE = "none"


class Reads(Enum):
    """Which upstream partitions one partition reads."""

    SAME = "same"
    ALL = "all"
    OWN_SEGMENT = "own segment"


@dataclass(frozen=True)
class Input:
    """One edge of the graph.

    asset: name of the asset that is read.
    mapping: SAME reads the partition of the same key (or the only one of an unpartitioned asset); ALL reads every
        partition; OWN_SEGMENT reads from every partition only the segment named like the reading partition.
    tracked: False if the partitions must exist, but the recipe does not cover their content.
    segment: name of the only segment that the recipe covers; None for the whole partition.
    instead_of: the asset that it replaces (`reading_instead`).
    nothing: an input with this digest is left out of the recipe, which then equals that of a stage without this edge.
    folded: True if recipe and record have one entry for all partitions together, `asset/*`, since one for each would be
        too many.
    by_path: True if partitions of raw files are read in the order of the files' paths, character by character, instead
        of their keys. Recipes follow that order.
    """

    asset: str
    mapping: Reads = Reads.SAME
    tracked: bool = True
    segment: str | None = None
    instead_of: str | None = None
    nothing: str | None = None
    folded: bool = False
    by_path: bool = False

    @property
    def names(self) -> list[str]:
        """The names by which a task may ask for the asset: its own, and that of the asset it replaces."""
        return [name for name in (self.asset, self.instead_of) if name]

    @property
    def name_in_recipe(self) -> str:
        """The name that recipes use, so that equal content gives the same recipe as the replaced asset."""
        return self.instead_of or self.asset

    def segment_read(self, key: str | None) -> str | None:
        """Returns the segment of an upstream partition that the recipe of `key` covers; None for all of it."""
        return self.segment if self.mapping is not Reads.OWN_SEGMENT else key


def same(asset: str, *, segment: str | None = None, nothing: str | None = None) -> Input:
    """Returns an edge that reads the partition with the same key. segment: the only segment to depend on.

    nothing: the digest of content that is left out of the recipe.
    """
    return Input(asset, segment=segment, nothing=nothing)


def every(
    asset: str, *, tracked: bool = True, segment: str | None = None, folded: bool = False, by_path: bool = False
) -> Input:
    """Returns an edge that reads all partitions. segment: the only segment of each to depend on.

    folded: their digests are one entry of the recipe. by_path: those of raw files in the order of their paths.
    """
    return Input(asset, Reads.ALL, tracked, segment, folded=folded, by_path=by_path)


def own_segment(asset: str, *, folded: bool = False) -> Input:
    """Returns an edge that reads, from all partitions, the segment named like the partition being built.

    folded: their digests are one entry of the recipe.
    """
    return Input(asset, Reads.OWN_SEGMENT, folded=folded)


def reading_instead(stage: Stage, asset: str, other: str) -> Stage:
    """Returns a stage that reads `other` wherever it declares to read `asset`, and still asks for it by that name.

    Both must hold the same kind of content. Recipes name the asset that the stage declares, so a partition whose
    content is equal in both stays fresh.
    """
    edges = (replace(edge, asset=other, instead_of=asset) if edge.asset == asset else edge for edge in stage.inputs)
    return replace(stage, inputs=tuple(edges))


@dataclass(frozen=True)
class Stage:
    """One asset: a plain function of one partition, with everything that the graph must know about it.

    name: asset key, without a slash; unique in the graph.
    group: box of the web UI that shows it; `corpus build --select group:NAME` builds the group. No two groups may read
        each other, directly or not.
    description: one or two sentences for the web UI.
    partitioning: the unit that one partition covers.
    compute: module-level function of a `Task`; a stage that looks outside returns digests of what it read as inputs.
    code_version: raise it in the commit that changes what `compute` writes.
    io: the IO manager that hands the content to other assets.
    inputs: the edges to the assets it reads: `same`, `every`, `own_segment`.
    parameters: dotted keys of `corpus.yaml` that the content depends on; `source.KEY` is read from the shard's source.
    shape: the parameters of which the others follow, each with the value that a recipe without it stands for: if one
        changes, the plan names it alone.
    looks_outside: True if it lists or digests raw files; the plan looks at them too.
    hooks: what a build asks of it, in the process that drives the build; workers are not given it.
    beside: with `looks_outside`, the set of files beside the raw files that it digests (`resources/shards/beside.py`).
    shard_set: the dataset whose own files the shards are; None for those of all sources of the corpus.
    unit_in, unit_out: what the rows are that `rows_in` and `rows_out` count, in the plural. A stage that counts neither
        has no rows, only files.
    reasons: every reason for which it may drop rows, besides those that the configuration gives (`Hooks.reasons`).
    moves: drop reasons that lose nothing, each with the asset that the rows went to.
    columns: names of the rows' columns, for the web UI, each with its type and, after `: `, what it holds.
    frozen: True if what is committed is used as it is, whatever it was made from.
    kinds: labels that Dagster shows on the asset, such as `jsonl` or `numba`.

        Stage(
            name="shouting",
            group="own",
            description="Share of capital letters of every document.",
            partitioning=Partitioning.SHARD,
            compute=shouting,
            code_version="1",
            io="documents",
            inputs=(same("normalized_documents"),),
        )
    """

    name: str
    group: str
    description: str
    partitioning: Partitioning
    compute: Callable[[Task], Mapping[str, str] | None]
    code_version: str
    io: IO
    inputs: tuple[Input, ...] = ()
    parameters: tuple[str, ...] = ()
    shape: Mapping[str, Any] = field(default_factory=dict)
    looks_outside: bool = False
    beside: str | None = None
    hooks: Hooks = NO_HOOKS
    shard_set: str | None = None
    unit_in: str = "rows"
    unit_out: str = "rows"
    reasons: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    frozen: bool = False

    @property
    def lists_shards(self) -> bool:
        """True for the stage that lists all raw files: its partitions add and remove shards."""
        return self.looks_outside and self.partitioning is Partitioning.NONE

    @property
    def digests_raw_files(self) -> bool:
        """True for a stage that digests the raw files, each of which is one of its partitions."""
        return self.looks_outside and not self.lists_shards and self.beside is None

    @property
    def has_gate(self) -> bool:
        """True if its readers wait until all of it is made, since the gate may refuse it."""
        return gives(self.hooks, Hooks.gate) or gives(self.hooks, Hooks.gate_all)

    @property
    def stand_ins(self) -> dict[str, str]:
        """The assets that it really reads, by the asset that its recipes name (`reading_instead`)."""
        return {edge.instead_of: edge.asset for edge in self.inputs if edge.instead_of}


def reasons_of(stage: Stage, settings: Values) -> list[str]:
    """Returns every reason for which a stage may drop rows under a configuration, each once, as declared."""
    return list(dict.fromkeys((*stage.reasons, *stage.hooks.reasons(settings))))


def kernels_of(stages: Iterable[Stage], settings: Values) -> list[str]:
    """Returns the compiled functions that these stages call under a configuration, each once."""
    return list(dict.fromkeys(name for stage in stages for name in stage.hooks.kernels(settings)))
