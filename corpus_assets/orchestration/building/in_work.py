"""Announces partitions in work to Dagster, which then shows them as being materialized."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable

from corpus_assets.checking import asset_key
from corpus_assets.orchestration.events.run_events import Entry, RunEvents

LONG_SECONDS = 2.0
"""Seconds after which a partition in work is announced; most are done before, and cost no event."""

Begun = Iterable[tuple[tuple[str, str | None], float]]
"""Partitions (asset, key) in work, each with the time of the monotonic clock at which it began."""


class InWork:
    """Makes the announcements, each once. step: returns the step of an asset."""

    def __init__(self, events: RunEvents, step: Callable[[str], str]) -> None:
        self._events = events
        self._step = step
        self._announced: set[tuple[str, str | None]] = set()

    def announcements(self, begun: Begun) -> list[list[Entry]]:
        """Returns the events of the partitions that have been in work for a while, by asset."""
        long_ago = time.monotonic() - LONG_SECONDS
        new: dict[str, list[Entry]] = defaultdict(list)
        for (asset, partition), since in begun:
            if since <= long_ago and (asset, partition) not in self._announced:
                self._announced.add((asset, partition))
                event = self._events.planned(self._step(asset), asset_key(asset), partition)
                new[asset].append(self._events.entry(event, time.time()))
        return list(new.values())
