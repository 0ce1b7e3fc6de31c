"""Removes files of a store that the caller holds alone."""

from collections.abc import Iterable

from resources.storage.interface import Storage

_AT_ONCE = 20
"""Files that are removed between two checks that the store is still held."""


def remove_files(storage: Storage, paths: Iterable[str]) -> None:
    """Removes files; `BuilderLostError`, after a few at the latest, if others went on without this process."""
    for number, path in enumerate(paths):
        if number % _AT_ONCE == 0:
            storage.require_held()
        storage.delete(path)
