"""How files of rows are compressed: the values of `storage.compression`, and the suffixes of such files.

A file is a row of members, each compressed alone. Any program that reads the compression reads all of them as one
stream: members of gzip (RFC 1952), frames of zstd (RFC 8878), frames of LZ4 (its frame format, version 1.6).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, Final, cast

import pyarrow as pa
from isal import isal_zlib

from resources.formats.codecs import CodecError, open_packed, require_memory

JSONL: Final = ".jsonl"
"""Suffix of a file of rows as stages name it; what is stored has that of its compression behind it."""

GZIP_LEVEL: Final = 1
_ZSTD_LEVEL: Final = 1
_GZIP: Final = 31
_GZIP_FAULT: Final = cast(type[Exception], isal_zlib.error)


@dataclass(frozen=True)
class Compression:
    """One way to compress members.

    name: as in corpus.yaml, and in `CODECS`.
    suffix: of files, after `JSONL`.
    compress: returns a member, whose header has no name and no time; see `write_hdf5` on equal bytes.
    decompress: returns the content of one whole member, given its bytes; `CodecError` for one that is damaged or has
        more. It takes no memory beyond that size.
    """

    name: str
    suffix: str
    compress: Callable[[bytes], bytes]
    decompress: Callable[[bytes, int], bytes]

    @property
    def ending(self) -> str:
        """How the paths of files of rows end."""
        return JSONL + self.suffix


def _gunzip(stored: bytes, size: int) -> bytes:
    decoder = isal_zlib.decompressobj(_GZIP)
    try:
        # One byte more than recorded shows a longer content, without decompressing all of it.
        content = decoder.decompress(stored, size + 1)
    except _GZIP_FAULT as error:
        raise CodecError(str(error)) from None
    if not decoder.eof or decoder.unused_data:
        raise CodecError("it does not end where its table says")
    return content


def _by_arrow(name: str, suffix: str, level: int | None = None) -> Compression:
    codec = pa.Codec(name, compression_level=level)

    def decompress(stored: bytes, size: int) -> bytes:
        try:
            return cast(bytes, codec.decompress(stored, size, asbytes=True))
        except MemoryError:  # Arrow's own is an ArrowException too.
            raise
        except (OSError, pa.ArrowException) as error:
            require_memory(error)
            raise CodecError(str(error)) from None

    return Compression(name, suffix, partial(codec.compress, asbytes=True), decompress)


def _gzip(content: bytes) -> bytes:
    return isal_zlib.compress(content, GZIP_LEVEL, _GZIP)


GZIP: Final = Compression("gzip", ".gz", _gzip, _gunzip)
ZSTD: Final = _by_arrow("zstd", ".zst", _ZSTD_LEVEL)
LZ4: Final = _by_arrow("lz4", ".lz4")
COMPRESSIONS: Final = {one.name: one for one in (GZIP, ZSTD, LZ4)}
ENDINGS: Final = tuple(one.ending for one in COMPRESSIONS.values())


def endings(suffix: str) -> tuple[str, ...]:
    """Returns how the paths of files with a suffix may end: for one that ends in `JSONL`, in any compression."""
    return tuple(suffix + one.suffix for one in COMPRESSIONS.values()) if suffix.endswith(JSONL) else (suffix,)


def compression_of(path: str) -> Compression:
    """Returns how a file of rows is compressed: by gzip if its suffix says nothing."""
    return next((one for one in COMPRESSIONS.values() if path.endswith(one.suffix)), GZIP)


def stored_as(path: str, store: str) -> str:
    """Returns where rows are stored: a path that names no compression, only `JSONL`, gets that of the store."""
    return path + COMPRESSIONS[store].suffix if path.endswith(JSONL) else path


def without_suffix(path: str) -> str:
    """Returns the path of a file of rows without `JSONL` and what follows it."""
    return path.removesuffix(compression_of(path).suffix).removesuffix(JSONL)


def open_rows(raw: BinaryIO, path: str) -> BinaryIO:
    """Returns a stream of the rows of a stored file, as `open_packed` does."""
    return cast(BinaryIO, open_packed(raw, compression_of(path).name))
