"""Reads the members of a tar of compressed JSON lines in order, without extracting files or following links."""

import tarfile
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, NamedTuple, cast

from resources.errors import BadFileError
from resources.raw_places.files import printable

MEMBER_SUFFIX: Final = ".jsonl.zst"
MAX_READ_BYTES: Final = 16 << 20
_APPLE_DOUBLE: Final = "._"
_HEADER_FAULTS: Final = (ValueError, IndexError, OverflowError, RecursionError)


class Member(NamedTuple):
    """A data member: its name in the archive, its size in bytes, and its content."""

    name: str
    size: int
    stream: BinaryIO


class Skipped(NamedTuple):
    """A member without data to read: its name in the archive, and its kind."""

    name: str
    kind: str


class _BoundedReads:
    """Refuses very large single reads, which a damaged header can ask for."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.seek = raw.seek
        self.tell = raw.tell

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MAX_READ_BYTES:
            raise tarfile.ReadError(f"tar header asks for {size} bytes at once")
        return self._raw.read(size)


def members(raw: BinaryIO, where: str) -> Iterator[Member | Skipped]:
    """Yields the regular members that end in `.jsonl.zst`, in archive order, even if several have the same name.

    Files with other names, links and devices come as `Skipped`, so that a caller can count them. Folders and
    AppleDouble files (`._*`, which archivers add) are left out. A member's stream is valid until the next member is
    requested. Raises `BadFileError` or `tarfile.TarError` unless every header is sound and the archive ends with its
    end mark: a block of zeros with only zeros after it.
    """
    source = cast(BinaryIO, _BoundedReads(raw))
    try:
        with tarfile.open(fileobj=source, mode="r:", encoding="utf-8", errors="surrogateescape") as archive:
            position = -1
            while (member := archive.next()) is not None:
                if member.size < 0 or member.offset <= position:
                    raise BadFileError(where, f"tar header at byte {member.offset} has an impossible size")
                position = member.offset
                cast(Any, archive).members.clear()  # the module keeps every header it has seen
                base = member.name.rpartition("/")[2]
                if member.isdir() or base.startswith(_APPLE_DOUBLE):
                    continue
                if member.isreg() and base.lower().endswith(MEMBER_SUFFIX):
                    stream = cast(BinaryIO, archive.extractfile(member))
                    yield Member(printable(member.name), member.size, stream)
                else:
                    yield Skipped(printable(member.name), _kind(member))
            _check_end(raw, archive.offset, where)
    except _HEADER_FAULTS as fault:
        raise BadFileError(where, f"tar header is damaged: {fault}") from fault


def _kind(member: tarfile.TarInfo) -> str:
    if member.isreg():
        return f"a file that does not end in {MEMBER_SUFFIX}"
    return "a link" if member.issym() or member.islnk() else "a device or pipe"


def _check_end(raw: BinaryIO, offset: int, where: str) -> None:
    """Raises `BadFileError` unless the end mark is at `offset`, with only zeros after it.

    The tar module treats a damaged header or a missing end mark as the end, although data could follow.
    """
    raw.seek(offset)
    mark = raw.read(tarfile.BLOCKSIZE)
    if len(mark) < tarfile.BLOCKSIZE:
        raise BadFileError(where, f"tar archive is cut: no end mark at byte {offset}")
    while mark:
        if mark.strip(b"\0"):
            raise BadFileError(where, f"tar archive is damaged, or has data after its end, at byte {offset}")
        mark = raw.read(1 << 20)
