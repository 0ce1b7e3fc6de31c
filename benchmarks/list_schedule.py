"""List scheduling: the time that groups of equal partitions take on so many cores, and the group that limits it."""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

_BATCH = 64
"""Partitions that the driver hands out at once."""


@dataclass(frozen=True)
class Group:
    """Partitions that may be computed at the same time: `count` of them, `seconds` each, once all of `after` are.

    alone: each starts only when nothing else runs, and nothing starts while it runs, like partitions of the whole
    corpus in a build (resources/planning/frontier.py).
    """

    name: str
    count: int
    seconds: float
    after: tuple[str, ...] = ()
    alone: bool = False


@dataclass
class Schedule:
    """When the last partition is done, and how long each group held up the others on the way there.

    A group holds up the others from the moment when all that it reads is there to its own end.
    """

    seconds: float = 0.0
    held_up: dict[str, float] = field(default_factory=dict)

    @property
    def limit(self) -> str:
        """The group that takes most of the time."""
        return max(self.held_up, key=self.held_up.__getitem__)


def schedule(groups: Sequence[Group], cores: int, dispatch: float = 0.0) -> Schedule:
    """Returns the schedule of groups, each named after those that it reads.

    A free core gets a partition of the last group that has any to compute, and one that runs alone when there is no
    other left that could run. dispatch: seconds of the driver for each
    partition, which it hands out one after the other, in batches.
    """
    ends = _ends(groups, cores, dispatch)
    by_name = {group.name: group for group in groups}
    found = Schedule(max(ends.values(), default=0.0))
    name = max(ends, key=ends.__getitem__, default=None)
    while name is not None:
        before = max(by_name[name].after, key=ends.__getitem__, default=None)
        found.held_up[name] = ends[name] - (ends[before] if before else 0.0)
        name = before
    return found


def _ends(groups: Sequence[Group], cores: int, dispatch: float) -> dict[str, float]:
    """Returns when the last partition of each group is done."""
    left = Counter({group.name: group.count for group in groups})
    undone, ends = Counter(left), dict[str, float]()
    running: list[tuple[float, str, int]] = []
    alone = {group.name for group in groups if group.alone}
    now = driver = 0.0
    free = cores
    while len(ends) < len(groups):
        for group in groups:
            if not undone[group.name] and group.name not in ends and all(name in ends for name in group.after):
                ends[group.name] = now
        ready = [group for group in groups if left[group.name] and all(name in ends for name in group.after)]
        ready = _startable(ready, [name in alone for _, name, _ in running])
        while free and ready:
            some = 1 if ready[-1].alone else min(free, left[ready[-1].name], _BATCH)
            driver = max(now, driver) + some * dispatch
            heapq.heappush(running, (driver + ready[-1].seconds, ready[-1].name, some))
            left[ready[-1].name] -= some
            free -= some
            if ready[-1].alone:
                break
            if not left[ready[-1].name]:
                ready.pop()
        if not running:
            continue
        now, name, some = heapq.heappop(running)
        undone[name] -= some
        free += some
    return ends


def _startable(ready: Sequence[Group], running_alone: Sequence[bool]) -> list[Group]:
    """Returns the groups of which a partition may start. running_alone: of what runs, whether it must run alone."""
    if any(running_alone):
        return []
    beside = [group for group in ready if not group.alone]
    return beside or ([] if running_alone else list(ready))
