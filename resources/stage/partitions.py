"""Upstream partitions that a worker keeps from job to job, with results computed over all of them."""

import os
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from resources.shards.listing import Shard
from resources.stage.partition import Partition

T = TypeVar("T")


class Partitions(list[Partition]):
    """Partitions of one asset in canonical order; immutable.

    A worker keeps them while their records stay the same, so that jobs of ranges or bands, each of which reads all
    shards, share them.
    """

    def __init__(self, partitions: Iterable[Partition] = ()) -> None:
        super().__init__(partitions)
        self._found: dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any] = {}

    def once(self, find: Callable[..., T], *given: Hashable) -> T:
        """Returns `find(self, *given)`, computed at the first call; the result must not be changed.

        find: a module-level function that depends only on the records and their content. Its result takes no more
        memory than the records, or than the share of the job's memory that it is given.
        """
        known = find, given
        if known not in self._found:
            self._found[known] = find(self, *given)
        found: T = self._found[known]
        return found


def in_order_of_paths(partitions: Iterable[Partition]) -> list[Partition]:
    """Returns partitions of shards: sources in their order, the shards of each in the order of their files' paths.

    That is the order of Dolma's toolkit: folder by folder, names compared by their bytes. The order of keys differs
    where names have capitals, or one name is the beginning of another.
    """
    given = list(partitions)
    sources = {source: place for place, source in enumerate(dict.fromkeys(_shard(one).source for one in given))}
    return sorted(given, key=lambda one: (sources[_shard(one).source], os.fsencode(_shard(one).path).split(b"/")))


def _shard(partition: Partition) -> Shard:
    if partition.shard is None:
        raise ValueError(f"{partition.name} is not of a shard")
    return partition.shard
