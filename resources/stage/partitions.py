"""Upstream partitions as a worker keeps them from job to job, with what was found out about all of them together."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from resources.stage.partition import Partition

T = TypeVar("T")


class Partitions(list[Partition]):
    """Partitions of one asset in canonical order, which stays as it is.

    A worker keeps them while their records stay the same, so the partitions of a range or band, each of which looks at
    all shards, share them.
    """

    def __init__(self, partitions: Iterable[Partition] = ()) -> None:
        super().__init__(partitions)
        self._found: dict[tuple[Callable[..., Any], tuple[Hashable, ...]], Any] = {}

    def once(self, find: Callable[..., T], *given: Hashable) -> T:
        """Returns `find(self, *given)`, computed when it is first asked for; nobody may change the result.

        find: a module-level function of nothing but the records and the content that they stand for, whose result
        takes no more memory than the records do, or than a share of the job's that it is given.
        """
        known = find, given
        if known not in self._found:
            self._found[known] = find(self, *given)
        found: T = self._found[known]
        return found
