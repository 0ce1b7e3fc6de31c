"""Partitions that other builders make: when to try them again, and which of their leases have expired."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from resources.errors import BuilderLostError
from resources.ledger.ledger import partition_name
from resources.planning.planner import Planner, Status
from resources.stage.jobs.job import Outcome
from resources.storage.leases import Held

Key = tuple[str, str | None]
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0
"""Seconds between two attempts at a lease; they double from the first to the longest."""

_MOST_LOSSES = 5
"""Most losses of the lease of a partition while it is computed."""


@dataclass(frozen=True)
class _Waiting:
    """A lease of another builder. since: when its token was first seen. again: when to try next. All in seconds."""

    held: Held
    since: float
    again: float
    pause: float


class Elsewhere:
    """The partitions that other builders hold, or have made from other inputs than this one would.

    The expiry of leases is measured here with the clock of this machine, since those of other machines may be wrong.
    """

    def __init__(
        self,
        planner: Planner,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._planner = planner
        self._clock = clock
        self._sleep = sleep
        self._waiting: dict[Key, _Waiting] = {}
        self._asked: dict[Key, _Waiting] = {}
        self._losses: Counter[Key] = Counter()

    def __contains__(self, key: Key) -> bool:
        return key in self._waiting

    def __len__(self) -> int:
        return len(self._waiting)

    def takes(self, outcome: Outcome) -> bool:
        """Notes an outcome; returns whether the partition must be tried again.

        `BuilderLostError` if others took this builder for dead, so that it can commit nothing.
        """
        if outcome.lost:
            raise BuilderLostError(outcome.error or outcome.name)
        key = (outcome.asset, outcome.partition)
        if outcome.record is not None:
            self._planner.ledger.committed(outcome.record, outcome.entry)
        if outcome.held is not None and not self._lost_too_often(key, outcome):
            self._waiting[key] = self._held(key, outcome.held)
        elif outcome.record is not None and outcome.elsewhere:
            self._planner.committed(outcome.record)
            stage = self._planner.graph[outcome.asset]
            [decision] = self._planner.decide_again(stage, [outcome.partition])
            if decision.status is not Status.FRESH:
                self._waiting[key] = _Waiting(Held(""), self._clock(), self._clock(), 0.0)
        return key in self._waiting

    def _lost_too_often(self, key: Key, outcome: Outcome) -> bool:
        """Returns whether the lease of a partition was lost so often that it counts as failed."""
        self._losses[key] += outcome.error is not None
        return self._losses[key] >= _MOST_LOSSES

    def _held(self, key: Key, held: Held) -> _Waiting:
        now, known = self._clock(), self._asked.pop(key, None)
        if known is None or known.held.token != held.token:
            return _Waiting(held, now, now + _FIRST_PAUSE, _FIRST_PAUSE)
        pause = min(2 * known.pause, _LONGEST_PAUSE)
        return _Waiting(held, known.since, now + pause, pause)

    def due(self) -> Iterator[Key]:
        """Yields the partitions to try now, and removes them from this object."""
        now = self._clock()
        for key, found in list(self._waiting.items()):
            if found.again <= now:
                self._asked[key] = self._waiting.pop(key)
                yield key

    def expired(self, key: Key) -> str:
        """Returns the token of the expired lease of a partition; None if it has not expired."""
        found = self._asked.get(key)
        if found is None or found.held.expiry is None or self._clock() - found.since < found.held.expiry:
            return ""
        return found.held.token

    def words(self) -> str:
        """Returns in words what the build waits for."""
        if not self._waiting:
            return ""
        (asset, partition), found = next(iter(self._waiting.items()))
        others = f" and {len(self._waiting) - 1} more" if len(self._waiting) > 1 else ""
        return (
            f"waiting for {partition_name(asset, partition)}{others}, which {found.held.who or 'another builder'} has"
        )

    def wait(self) -> None:
        """Waits until a partition can be tried; returns at once if there are none at all."""
        if (pause := self.pause()) is not None:
            self._sleep(pause)

    def pause(self) -> float | None:
        """Returns the seconds until a partition can be tried; None if there are none at all."""
        soonest = min((found.again for found in self._waiting.values()), default=None)
        return None if soonest is None else max(0.0, soonest - self._clock())
