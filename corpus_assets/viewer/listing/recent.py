"""Values that were made last, up to a number of bytes; the one that was not asked for longest goes first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """A cache. most: bytes that its values may take together; sized: how many one takes. Thread-safe."""

    def __init__(self, most: int, sized: Callable[[V], int]) -> None:
        self._most, self._sized = most, sized
        self._kept: OrderedDict[Hashable, V] = OrderedDict()
        self._held = 0
        self._lock = Lock()

    def get(self, name: Hashable, make: Callable[[], V]) -> V:
        """Returns the value of a name; it is made if it is not kept. Two threads may make the same one at once."""
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        value = make()
        with self._lock:
            if name not in self._kept:
                self._kept[name] = value
                self._held += self._sized(value)
            while self._held > self._most and self._kept:
                self._held -= self._sized(self._kept.popitem(last=False)[1])
        return value
