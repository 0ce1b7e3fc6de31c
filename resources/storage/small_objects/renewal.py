"""Renews the leases and objects of this process in a store, in one thread, while there are any."""

import os
import threading
import time
from contextlib import suppress
from typing import Protocol

_PAUSE_AFTER_FAULT = 0.5  # seconds


class Renewable(Protocol):
    """Something that must be renewed from time to time."""

    @property
    def due(self) -> float:
        """When it must be renewed next, by `clock`; infinite if it is lost."""

    def renew(self) -> None:
        """Renews it; an error if that fails, after which it is tried again while it is due."""


def clock() -> float:
    """Returns seconds that go on while this process is stopped, and while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Renewals:
    """All that this process renews."""

    def __init__(self) -> None:
        self._held: list[Renewable] = []
        self._changed = threading.Condition()
        self._runs = False

    def add(self, held: Renewable) -> None:
        """Begins to renew something."""
        with self._changed:
            if not self._runs:
                threading.Thread(target=self._run, daemon=True).start()
                self._runs = True  # Only now: a machine may refuse another thread.
            self._held.append(held)
            self._changed.notify()

    def remove(self, held: Renewable) -> None:
        """Ends that; does nothing if it had ended."""
        with self._changed, suppress(ValueError):
            self._held.remove(held)

    def _run(self) -> None:
        while True:
            for held in self._due():
                try:
                    held.renew()
                except Exception:  # Its holder finds out; this thread has others to renew.
                    with self._changed:
                        self._changed.wait(_PAUSE_AFTER_FAULT)

    def _due(self) -> list[Renewable]:
        """Waits until something is due, or something is added."""
        with self._changed:
            soonest = min((held.due for held in self._held), default=float("inf"))
            pause = soonest - clock()
            if pause > 0:
                self._changed.wait(min(pause, threading.TIMEOUT_MAX))
            return [held for held in self._held if held.due <= clock()]


RENEWALS = Renewals()
os.register_at_fork(after_in_child=RENEWALS.__init__)  # type: ignore[misc]  # The thread stays with the parent.
