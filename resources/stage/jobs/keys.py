"""The keys of partitions that a job reads, compressed: those of ten thousand shards take little room in a message."""

import zlib
from collections.abc import Callable
from functools import cached_property, lru_cache

import msgspec
from typing_extensions import override

_LEVEL = 6


class Keys(tuple[str | None, ...]):
    """Keys of partitions in canonical order; they are compressed once, for all jobs that are sent to workers."""

    @cached_property
    def _compressed(self) -> bytes:
        return zlib.compress(msgspec.json.encode(tuple(self)), _LEVEL)

    @override
    def __reduce__(self) -> tuple[Callable[[bytes], "Keys"], tuple[bytes]]:
        return _decompressed, (self._compressed,)


@lru_cache(maxsize=64)  # Jobs of one stage share them.
def _decompressed(compressed: bytes) -> Keys:
    """Returns keys that this process's driver sent."""
    return Keys(msgspec.json.decode(zlib.decompress(compressed), type=list[str | None]))
