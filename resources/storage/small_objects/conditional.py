"""Small objects in a store that are written under conditions; leases and lists of builders are made of them."""

from collections.abc import Callable, Iterator
from time import sleep
from typing import NamedTuple, Protocol

from resources.errors import StoreAccessError

# Seconds before each attempt. A busy store may briefly show an object with a version that it then refuses.
_PAUSES = (0, 0.05, 0.1, 0.2, 0.4)


class Found(NamedTuple):
    """A small object, and a token that changes when it is written with other content."""

    content: bytes
    version: str


class ChangedError(Exception):
    """A conditional write was refused: the object has another version, or exists although it should not."""


class Objects(Protocol):
    """Small objects by name.

    Every call sees all earlier writes of any process. A write that was done may still be reported as failed, if the
    reply was lost. Hashable.
    """

    def __hash__(self) -> int:
        return object.__hash__(self)

    def read(self, name: str) -> Found | None:
        """Returns an object, or None."""

    def write(self, name: str, content: bytes) -> str:
        """Writes an object, whether or not it exists, and returns its version."""

    def create(self, name: str, content: bytes) -> str:
        """Creates an object and returns its version; `ChangedError` if it exists."""

    def replace(self, name: str, content: bytes, version: str) -> str:
        """Replaces an object of some version; returns the new one. `ChangedError` if it has another or is gone."""

    def delete(self, name: str) -> None:
        """Removes an object; does nothing if there is none."""

    def names(self, folder: str) -> Iterator[str]:
        """Yields the names of all objects in a folder."""


def create(objects: Objects, name: str, content: bytes) -> str | None:
    """Creates an object; returns its version, None if another exists.

    An object with the same content is our own: the reply to an earlier attempt was lost.
    """
    try:
        return objects.create(name, content)
    except ChangedError:
        return _own(objects, name, content)


def replace(
    objects: Objects, name: str, content: bytes, version: str, is_ours: Callable[[bytes], bool] = lambda _: False
) -> str | None:
    """Replaces an object of some version; returns the new version, None if another process has changed it.

    As in `create`, the same content is our own. is_ours: whether another content is of this writer too: a store may
    carry out a repeated request late, even after later requests. A store may also refuse a write only because another
    one was running. In both cases the write is repeated; `StoreAccessError` if that does not end.
    """
    for pause in _PAUSES:
        sleep(pause)
        try:
            return objects.replace(name, content, version)
        except ChangedError:
            found = objects.read(name)
            if found is None or found.content == content:
                return found and found.version
            if found.version != version and not is_ours(found.content):
                return None
            version = found.version
    raise StoreAccessError(f"{name}: the store refuses to replace version {version!r}, which it still has")


def _own(objects: Objects, name: str, content: bytes) -> str | None:
    found = objects.read(name)
    return found.version if found is not None and found.content == content else None
