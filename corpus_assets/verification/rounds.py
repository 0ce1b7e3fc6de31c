"""One round after another over a store, each as long as it may last, so that every file is read again in turn.

A partition is whole at the moment it is committed, and at each moment it was read whole. A round reads those first of
which that was longest ago. These moments are kept in the store, by asset, in `ledger/.read_whole`; they are no part of
the ledger, and may be lost.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from resources.errors import ConfigError, CorpusError
from resources.ledger.ledger import FOLDER
from resources.ledger.records import Record
from resources.storage.interface import Storage

READ_WHOLE = f"{FOLDER}/.read_whole"
_KEPT_EVERY = 30.0
"""Seconds between two times that moments are kept, so that a round that is killed was not in vain."""

Key = tuple[str, str | None]
Moments = dict[str, str]


_UNITS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smh])")


def seconds_of(duration: str) -> float:
    """Returns the seconds of `90s`, `10m` or `1.5h`; `ConfigError` for anything else, and for no time at all."""
    found = _DURATION.fullmatch(duration.strip())
    seconds = float(found[1]) * _UNITS[found[2]] if found else 0.0
    if seconds <= 0:
        raise ConfigError(f"a budget of {duration!r} is no time; valid are such as 90s, 10m and 1.5h")
    return seconds


class Round:
    """A round that lasts some seconds, and at least one partition.

    oldest: when the next partition in turn was last whole, if the time did not suffice for it.
    not_kept: why the moments could not be kept; empty if they were.
    """

    def __init__(self, storage: Storage, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.oldest = ""
        self.not_kept = ""
        self._storage = storage
        self._clock = clock
        self._end = clock() + seconds
        self._keep_at = clock() + _KEPT_EVERY
        self._moments: dict[str, Moments] = {}
        self._changed: set[str] = set()

    def turns(self, records: Mapping[Key, Record]) -> Iterator[Key]:
        """Yields names as long as the round lasts, those first that were read or committed least lately."""
        self._moments = {asset: _read(self._storage, asset) for asset in {asset for asset, _ in records}}
        now = _now()
        last = {name: self._last(name, record.created, now) for name, record in records.items()}
        for asset, moments in self._moments.items():
            self._moments[asset] = {key: when for key, when in moments.items() if (asset, key or None) in records}
        try:
            for number, name in enumerate(sorted(records, key=lambda name: (last[name], name[0], name[1] or ""))):
                if number and self._clock() >= self._end:
                    self.oldest = last[name] or "never"
                    break
                yield name
        finally:
            self._keep()

    def _last(self, name: Key, created: str, now: str) -> str:
        """Returns when a partition was last whole; empty for a moment that is still to come, of a clock set back."""
        when = max(created, self._moments[name[0]].get(name[1] or "", ""))
        return "" if when > now else when

    def read(self, name: Key) -> None:
        """Notes that a partition was read now and is whole."""
        self._moments[name[0]][name[1] or ""] = _now()
        self._changed.add(name[0])
        if self._clock() >= self._keep_at:
            self._keep()

    def _keep(self) -> None:
        try:
            for asset in sorted(self._changed):
                self._storage.write(_path(asset), msgspec.json.encode(self._moments[asset], order="deterministic"))
            self._changed.clear()
            self.not_kept = ""
        except (OSError, CorpusError) as error:  # A round over a store that cannot be written is still a verification.
            self.not_kept = str(error)
        self._keep_at = self._clock() + _KEPT_EVERY


def _read(storage: Storage, asset: str) -> Moments:
    with suppress(msgspec.DecodeError, UnicodeDecodeError, OSError, CorpusError), storage.open(_path(asset)) as file:
        return msgspec.json.decode(file.read(), type=Moments)
    return {}


def _path(asset: str) -> str:
    return f"{READ_WHOLE}/{asset.replace('/', '.')}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
