"""Declarations by the names of version 0.1, for stages that were written for it. New ones import from `resources`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from resources.stage import declaration
from resources.stage.declaration import Input, Partitioning
from resources.stage.hooks import NO_HOOKS, Hooks, Values

__all__ = ["Input", "Partitioning", "Stage", "every", "same", "segment"]

_FIELDS = {
    "kind": "io",
    "tools": "kinds",
    "source": "shard_set",
    "observed": "looks_outside",
}


@dataclass(frozen=True)
class _Hooks(Hooks):
    parameters: Callable[[Values], Values]

    @override
    def derived_parameters(self, settings: Values) -> Values:
        return self.parameters(settings)


def Stage(extra_parameters: Callable[[Values], Values] | None = None, **fields: Any) -> declaration.Stage:  # noqa: N802
    """Returns a stage, declared with the field names of version 0.1."""
    hooks = _Hooks(extra_parameters) if extra_parameters else NO_HOOKS
    return declaration.Stage(**{_FIELDS.get(name, name): value for name, value in fields.items()}, hooks=hooks)


def same(asset: str, *, part: str | None = None) -> Input:
    """Returns an edge that reads the partition with the same key. part: the only segment to depend on."""
    return declaration.same(asset, segment=part)


def every(asset: str, *, tracked: bool = True, part: str | None = None) -> Input:
    """Returns an edge that reads all partitions. part: the only segment of each to depend on."""
    return declaration.every(asset, tracked=tracked, segment=part)


def segment(asset: str) -> Input:
    """Returns an edge that reads, from all partitions, the segment named like the partition being built."""
    return declaration.own_segment(asset)
