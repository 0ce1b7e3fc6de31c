"""Files without a recorded digest: content is believed once two readings of one version gave the same.

So a single faulty reading is never taken for the content. Once a process knows the digest of a version, it reads that
version once each time, and compares.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import closing
from typing import BinaryIO, Final

import xxhash

from resources.errors import StorageError
from resources.outside.stream import OutsideStream

_READINGS: Final = 4
_MOST_KNOWN: Final = 1 << 14
_KNOWN: OrderedDict[Hashable, str] = OrderedDict()

Opening = Callable[[], BinaryIO]


class MisreadError(StorageError):
    """Readings of one version of a file differ: a fault of the machine, which says nothing about the file."""

    def __init__(self, label: str) -> None:
        super().__init__(f"{label}: cannot be read now: several readings of the same file gave different bytes")
        self.label = label

    def __reduce__(self) -> tuple[type["MisreadError"], tuple[str]]:
        return (type(self), (self.label,))


def agreed_content(label: str, version: Hashable, opening: Opening, limit: int) -> bytes:
    """Returns the content of a file; of a longer one than `limit`, no more than one byte over it.

    label: the file in messages. version: equal for what must have equal content. `MisreadError` if readings differ.
    """
    for _ in range(_READINGS):
        content = _content(opening, limit)
        digest = xxhash.xxh3_128_hexdigest(content)
        if len(content) > limit or digest == _known(version):
            return content
        if digest == _digest(opening):
            _note(version, digest)
            return content
    raise MisreadError(label)


def agreed_digest(label: str, version: Hashable, opening: Opening) -> str:
    """Returns the xxh3-128 of a file, which a process reads once while its version stays; errors as above."""
    if (known := _known(version)) is not None:
        return known
    last = _digest(opening)
    for _ in range(_READINGS):
        before, last = last, _digest(opening)
        if last == before:
            _note(version, last)
            return last
    raise MisreadError(label)


def _content(opening: Opening, limit: int) -> bytes:
    with closing(OutsideStream(opening())) as stream:
        return stream.read(limit + 1)


def _digest(opening: Opening) -> str:
    with closing(OutsideStream(opening())) as stream:
        return stream.drained()


def _known(version: Hashable) -> str | None:
    if version in _KNOWN:
        _KNOWN.move_to_end(version)
    return _KNOWN.get(version)


def _note(version: Hashable, digest: str) -> None:
    _KNOWN[version] = digest
    if len(_KNOWN) > _MOST_KNOWN:
        _KNOWN.popitem(last=False)
