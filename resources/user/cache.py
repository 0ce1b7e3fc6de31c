"""The cache folder of the user, and small texts kept there for later processes.

A folder that cannot be read or written, or a damaged text, counts as an empty cache.
"""

import fcntl
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from resources.hashing import content_digest


def user_folder(group: str) -> Path:
    """Returns the folder of a group of files. Raises RuntimeError for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "corpus-assets" / group


def _place(group: str, name: str) -> Path:
    return user_folder(group) / name


def kept_or_made(group: str, name: str, make: Callable[[], str]) -> str:
    """Returns a kept text, or makes and keeps it in one process, while other processes that need it wait."""
    if (found := kept(group, name)) is not None:
        return found
    with ExitStack() as stack:
        with suppress(OSError, RuntimeError):
            path = _place(group, f".{name}.lock")
            path.parent.mkdir(parents=True, exist_ok=True)
            fcntl.flock(stack.enter_context(path.open("ab")), fcntl.LOCK_EX)
        if (found := kept(group, name)) is None:
            found = make()
            keep(group, name, found)
        return found


def kept(group: str, name: str) -> str | None:
    """Returns a kept text; None if there is none."""
    with suppress(OSError, RuntimeError, ValueError):
        digest, _, text = _place(group, name).read_text("utf-8").partition("\n")
        if digest == content_digest(text.encode()):
            return text
    return None


def keep(group: str, name: str, text: str) -> None:
    """Writes a text where `kept` finds it, if possible."""
    with suppress(OSError, RuntimeError):
        path = _place(group, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{os.getpid()}-{name}")
        try:
            unfinished.write_text(f"{content_digest(text.encode())}\n{text}", "utf-8")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
