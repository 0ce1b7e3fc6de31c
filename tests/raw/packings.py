"""Every compression that raw files may have, for tests."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from functools import partial

import pyarrow as pa
import xxhash
import zstandard

_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_FLAGS = b"\x74\x40"  # blocks of up to 64 KiB by themselves, a checksum of each and of the content


def lz4_frame(content: bytes, flags: bytes = _LZ4_FLAGS, after: bytes = b"") -> bytes:
    """A frame as https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md has it. after: fields behind the flags."""
    header = flags + after
    out = [_LZ4_MAGIC, header, bytes([xxhash.xxh32_intdigest(header) >> 8 & 255])]
    for start in range(0, len(content), 1 << 16):
        piece = content[start : start + (1 << 16)]
        block = pa.Codec("lz4_raw").compress(piece, asbytes=True)
        plain = len(block) >= len(piece)
        block = piece if plain else block
        out += [(len(block) | plain << 31).to_bytes(4, "little"), block, _sum(block)]
    return b"".join([*out, bytes(4), _sum(content)])


def _sum(content: bytes) -> bytes:
    return xxhash.xxh32_intdigest(content).to_bytes(4, "little")


def zstd_frame(content: bytes) -> bytes:
    """A frame with a checksum."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": partial(gzip.compress, mtime=0),
    "zst": zstd_frame,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lz4_frame,
}
"""What compresses, by the suffix."""

UNREAD: dict[str, bytes] = {
    "legacy lz4": b"\x02\x21\x4c\x18\x0e\0\0\0\xd0" + b'{"text":"a"}\n',
    "lzma (not xz)": lzma.compress(b'{"text":"a"}\n', lzma.FORMAT_ALONE),
    "compress (.Z)": b"\x1f\x9d\x90\x7b\x44\xe8\xa1\x23",
    "7z": b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24),
    "rar": b"Rar!\x1a\x07\x01\0" + bytes(24),
    "lzip": b"LZIP\x01\x0c" + bytes(24),
    "lzop": b"\x89LZO\0\r\n\x1a\n" + bytes(24),
    "snappy": b"\xff\x06\0\0sNaPpY" + bytes(24),
    "zlib": zlib.compress(b'{"text":"a"}\n'),
    "zip": b"PK\5\6" + bytes(18),
}
"""Beginnings of files in compressions that are not read."""
