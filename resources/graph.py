"""Declarations by the names of version 0.1, for stages that were written for it. New ones import from `resources`."""

from typing import Any

from resources.stage import declaration
from resources.stage.declaration import Input, Partitioning

__all__ = ["Input", "Partitioning", "Stage", "every", "same", "segment"]

_FIELDS = {
    "kind": "io",
    "tools": "kinds",
    "source": "shard_set",
    "extra_parameters": "derived_parameters",
    "observed": "looks_outside",
}


def Stage(**fields: Any) -> declaration.Stage:  # noqa: N802
    """Declare a stage."""
    return declaration.Stage(**{_FIELDS.get(name, name): value for name, value in fields.items()})


def same(asset: str, *, part: str | None = None) -> Input:
    """Read the partition with the same key, or depend on one part of it only."""
    return declaration.same(asset, segment=part)


def every(asset: str, *, tracked: bool = True, part: str | None = None) -> Input:
    """Read all partitions, or depend on one part of each only."""
    return declaration.every(asset, tracked=tracked, segment=part)


def segment(asset: str) -> Input:
    """Read from all partitions the part that is named like the partition being built."""
    return declaration.own_segment(asset)
