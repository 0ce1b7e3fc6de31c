"""Opens files that a store copies to this machine."""

from collections.abc import Callable
from typing import TypeVar

from resources.storage.interface import Storage

V = TypeVar("V")
_TIMES = 5


def fetched(storage: Storage, path: str, use: Callable[[str], V]) -> V:
    """Returns the result of `use` for a local path with the content of a stored file.

    If another process needs the room of the copy before it is opened, the file is fetched again, a few times.
    """
    for _ in range(_TIMES - 1):
        copy = storage.fetch(path)
        try:
            return use(copy)
        except FileNotFoundError:
            continue
    return use(storage.fetch(path))
