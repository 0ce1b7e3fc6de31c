"""Errors while a build removes files that are no longer needed: they fail nothing, and are reported at its end."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from resources.errors import StorageError
from resources.system_errors import error_words, placed

_LEFT: list[str] = []


@contextmanager
def kept_if_not_removed(place: str | Path, why: str) -> Iterator[None]:
    """Leaves an unneeded file that cannot be removed. why: whose it is, and who removes it."""
    try:
        yield
    except (OSError, StorageError) as error:
        words = error_words(placed(error, "removing", place) if isinstance(error, OSError) else error)
        _LEFT.append(f"a file could not be removed ({why}): {words}")


def remove_folder(folder: Path) -> None:
    """Removes a folder, or what of it can be removed."""
    with suppress(OSError):  # A folder that cannot be closed is no error that `rmtree` ignores.
        shutil.rmtree(folder, ignore_errors=True)


def left_behind() -> list[str]:
    """Returns in words the files that could not be removed since the last call, each once."""
    found = list(dict.fromkeys(_LEFT))
    _LEFT.clear()
    return found
