"""Opening of files that a store fetches to this machine."""

from collections.abc import Callable
from typing import TypeVar

from resources.storage.interface import Storage

V = TypeVar("V")
_TIMES = 5


def fetched(storage: Storage, path: str, use: Callable[[str], V]) -> V:
    """Returns what `use` makes of a local path with a stored file's content.

    Another process may need the room of a copy before it is opened: it is fetched again then, a few times.
    """
    for _ in range(_TIMES - 1):
        copy = storage.fetch(path)
        try:
            return use(copy)
        except FileNotFoundError:
            continue
    return use(storage.fetch(path))
