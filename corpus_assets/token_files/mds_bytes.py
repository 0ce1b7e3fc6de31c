"""The bytes of an MDS shard: decompressed, counted, and compared with the checksums of its index."""

import hashlib
import io
from collections.abc import Mapping
from functools import partial
from typing import Any, BinaryIO, Final, cast

import xxhash
from typing_extensions import override

from corpus_assets.token_files.mds_index import Part, Shard
from corpus_assets.token_files.pieces import TokenFile
from resources.formats.codecs import open_gzip, open_zstd

_XXHASHES: Final = {
    "xxh32": xxhash.xxh32,
    "xxh64": xxhash.xxh64,
    "xxh128": xxhash.xxh128,
    "xxh3_64": xxhash.xxh3_64,
    "xxh3_128": xxhash.xxh3_128,
}
_HASHLIB: Final = (
    *("md5", "sha1", "sha224", "sha256", "sha384", "sha512"),
    *("blake2b", "blake2s", "sha3_224", "sha3_256", "sha3_384", "sha3_512"),
)
_STEP: Final = 1 << 20


class ShardBytes:
    """A shard that is read once, in order. file: its samples, decompressed."""

    def __init__(self, stored: TokenFile, shard: Shard, part: Part) -> None:
        if stored.size != part.bytes:
            raise stored.bad(f"has {stored.size:,} bytes; its index says {part.bytes:,}")
        self._stored = _Hashed(stored.file, stored, part.hashes)
        self._all = [self._stored]
        content: BinaryIO = cast(BinaryIO, self._stored)
        if part is shard.zip_data:
            content = self._decompressed(stored, shard)
        self.file = TokenFile(content, stored.where)

    def _decompressed(self, stored: TokenFile, shard: Shard) -> BinaryIO:
        kind = (shard.compression or "none").partition(":")[0]
        opening = {"zstd": open_zstd, "gz": open_gzip}.get(kind)
        if opening is None:
            raise stored.bad(f"is compressed as {shard.compression!r}, by its index; valid: zstd, gz")
        inner = opening(cast(BinaryIO, self._stored), shard.raw_data.bytes)
        self._all.append(_Hashed(cast(BinaryIO, inner), stored, shard.raw_data.hashes))
        return cast(BinaryIO, self._all[-1])

    def require_right(self) -> None:
        """Reads to the end; `BadFileError` for bytes after the last sample, and for wrong checksums."""
        if self.file.file.read(1):
            raise self.file.bad("has more bytes after its last sample")
        while self._stored.read(_STEP):
            pass
        for content in self._all:
            content.require_right()


class _Hashed(io.RawIOBase):
    """A stream that is read in order and takes checksums of what passes."""

    def __init__(self, source: BinaryIO, file: TokenFile, expected: Mapping[str, str]) -> None:
        self._source, self._file, self._expected = source, file, expected
        self._hashers = {name: _hasher(file, name) for name in expected}

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any) -> int:
        block = self._source.read(len(buffer))
        buffer[: len(block)] = block
        for hasher in self._hashers.values():
            hasher.update(block)
        return len(block)

    def require_right(self) -> None:
        """Raises `BadFileError` for another checksum than the expected one."""
        for name, hasher in self._hashers.items():
            if (found := hasher.hexdigest()) != self._expected[name]:
                raise self._file.bad(f"has {name} {found}; its index says {self._expected[name]}")


def _hasher(file: TokenFile, name: str) -> Any:
    if name in _XXHASHES:
        return _XXHASHES[name]()
    if name not in _HASHLIB:
        raise file.bad(f"has a checksum {name!r} in its index; known: {', '.join((*_HASHLIB, *_XXHASHES))}")
    return partial(hashlib.new, usedforsecurity=False)(name)
